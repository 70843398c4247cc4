"""Units of a study on other threads, processes and machines."""

import pickle
from concurrent.futures import BrokenExecutor
from queue import Empty, SimpleQueue
from threading import Lock

from ._native import Error

#: Seconds for which a thread that waits does not look whether somebody wants to stop.
_LOOK = 0.1
#: The study that this process worked on last, by what was sent of it: units of one study follow each other.
_LAST = {}
_LOCK = Lock()


def dask(client, *, retries=3, **options):
    """The workers of a Dask client as an executor for Study.run: `study.run(executor=ww.dask(client))`.

    client: a `distributed.Client`. retries: how often a unit that failed is tried again; one whose worker died goes to another worker anyway.
    options: further ones of `Client.submit`: workers, resources, priority.
    """
    return _Dask(client, {"retries": retries, **options})


class _Dask:
    """A client as Workers use an executor. What a study needs is sent once, and again where a worker that had it is gone."""

    def __init__(self, client, options):
        self._client = client
        self._executor = client.get_executor(pure=False, **options)

    def share(self, payload):
        # A task, not data that is scattered: the scheduler can have it made again.
        return self._client.submit(bytes, payload, pure=False)

    def submit(self, function, *arguments):
        return self._executor.submit(function, *arguments)


class Workers:
    """Units of a study as futures of an executor; the native half asks for those that are finished."""

    def __init__(self, executor, study, jobs, cache):
        if not callable(getattr(executor, "submit", None)):
            raise TypeError(f"{executor!r} is no executor: pass one of concurrent.futures, or ww.dask(client)")
        self._executor = executor
        self._sent = pickle.dumps(study)
        self._how = jobs or 1, cache
        self._places = {}
        self._done = SimpleQueue()
        self._failed = []

    def begin(self, units):
        """Hands all units to the executor."""
        share = getattr(self._executor, "share", None)
        sent = share(self._sent) if share else self._sent
        for place, unit in enumerate(units):
            try:
                future = self._executor.submit(work, sent, unit, *self._how)
            except Exception as error:
                self._fail(place, error)
                return
            self._places[future] = place
            future.add_done_callback(self._done.put)

    def next(self):
        """The place and the bytes of a unit that is finished; None if none is yet. What a unit failed with is raised when nothing runs any more."""
        if not self._places and self._failed:
            self._raise()
        try:
            future = self._done.get(timeout=_LOOK)
        except Empty:
            return None
        place = self._places.pop(future)
        if future.cancelled():
            return None
        if future.exception() is None:
            return place, future.result()
        self._fail(place, future.exception())
        return None

    def close(self):
        """Takes back what has not begun."""
        for future in list(self._places):
            future.cancel()

    def _fail(self, place, error):
        self._failed.append((place, error))
        self.close()

    def _raise(self):
        error = min(self._failed, key=lambda failed: failed[0])[1]
        if isinstance(error, BrokenExecutor):
            said = "a worker of the executor ended before its unit was done (killed, or out of memory)"
            raise Error(f"{said}: run the study again with a new executor; what is finished is kept where `out` names a directory") from error
        raise error


def work(sent, unit, jobs, cache):
    """Does a unit of a study, on whatever machine this is; what its points come out as."""
    return _study(sent)._native.work(unit, jobs, cache)


def _study(sent):
    with _LOCK:
        study = _LAST.get(sent)
        if study is None:
            study = pickle.loads(sent)
            _LAST.clear()
            _LAST[sent] = study
    return study
