"""Which stretch of the program is one step.

Training: from the end of an optimizer's step to the end of its next one; other optimizers do not cut. Without an
optimizer: from batch to batch of one loader. The loader that leads is the first one; another takes over when the leading
one has ended, or when it gives two batches in a row (a validation loop inside an epoch)."""
import weakref

from .recording import RANGE_STEP


class Steps:
    """One for the process: the loader may be read by another thread than the one that trains. Races cost a step."""

    def __init__(self, recording):
        self.recording = recording
        recording.on_fork.append(self.forget)
        self.number = 0
        self.forget()

    def forget(self):
        self.start = 0  # of the step that is open; 0: none is
        self.leader = self.other = self.optimizer = None
        self.is_training = False

    def loop(self, start):
        """A loader starts over: its workers belong to the first step of the loop."""
        if self._leads_nobody():
            self._begin(start)

    def batch(self, iterator, start):
        """A batch is asked for."""
        leader = self.leader and self.leader()
        if leader is iterator:
            self.other = None
            if not self.is_training:
                self._end(start)
            return
        other = self.other and self.other()
        if leader is None or other is iterator:
            if self.leader is not None or not self.start:
                self._begin(start)
            self.leader = weakref.ref(iterator)
            self.other = None
        else:
            self.other = weakref.ref(iterator)

    def exhausted(self, iterator):
        """The loader had no further batch; what came before was cut when it was asked."""
        if self.leader and self.leader() is iterator:
            self.start = 0
            self.leader = self.other = None
            self.is_training = False

    def optimizer_stepped(self, optimizer, end):
        first = self.optimizer and self.optimizer()
        if first is None:
            self.optimizer = weakref.ref(optimizer)
        elif first is not optimizer:
            return
        self.is_training = True
        self._end(end)

    def _leads_nobody(self):
        return not (self.leader and self.leader())

    def _begin(self, start):
        self.start = start
        self.is_training = False

    def _end(self, end):
        if self.start:
            self.recording.mark(RANGE_STEP, self.start, end, f"step {self.number}")
            self.number += 1
        self.start = end


def of(recording):
    if recording.steps is None:
        recording.steps = Steps(recording)
    return recording.steps
