"""What a run did, span by span: derived from its log, not written beside it."""
