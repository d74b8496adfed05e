"""A Ctrl-C while Ray starts waits until it has started; a second one does not."""

import signal

import pytest

from services.cli.local_ray import _interrupt_deferred


def test_the_first_ctrl_c_waits_for_the_end_of_the_block():
    done = False
    with pytest.raises(KeyboardInterrupt), _interrupt_deferred():
        signal.raise_signal(signal.SIGINT)
        done = True
    assert done


def test_the_second_ctrl_c_does_not_wait():
    done = False
    with pytest.raises(KeyboardInterrupt), _interrupt_deferred():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        done = True
    assert not done


def test_afterwards_ctrl_c_does_what_it_did_before():
    before = signal.getsignal(signal.SIGINT)
    with _interrupt_deferred():
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before
