"""The one error that a user is meant to read."""


class HanseError(Exception):
    """Something the user can mend: the message is one complete line that says what and how.

    The command line prints it as ``hanse: <message>`` and exits with 2; it never shows a traceback.
    """
