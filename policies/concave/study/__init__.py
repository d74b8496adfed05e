"""The experiments of the note, section 5, on worlds where the truth can be computed (numpy).

`bias` and `learning` run them, `demands` says what is asked of them, `table` prints that beside the
note's figures. Nothing else imports from here.
"""
