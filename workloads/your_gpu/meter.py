"""What a GPU's own sensors say, through the library that comes with its driver (NVML). Nothing of the GPU is ever set."""

import ctypes
import threading
import time

ENERGY_EVERY = 0.01  # seconds between readings of energy and power
STATE_EVERY = 0.1  # of clocks, temperature and limits

POWER_AVERAGE, POWER_INSTANT = 185, 186  # NVML_FI_DEV_...
CLOCK_SM, CLOCK_MEMORY = 1, 2

LIMITS = {  # nvmlClocksEventReasons: what keeps the clocks down
    0x2: "application_clocks",
    0x4: "power_cap",
    0x8: "hardware_slowdown",
    0x10: "sync_boost",
    0x20: "thermal",
    0x40: "hardware_thermal",
    0x80: "power_brake",
    0x100: "display_clock",
}


class FieldValue(ctypes.Structure):
    _fields_ = [
        ("field", ctypes.c_uint),
        ("scope", ctypes.c_uint),
        ("timestamp", ctypes.c_longlong),
        ("latency", ctypes.c_longlong),
        ("type", ctypes.c_uint),
        ("status", ctypes.c_uint),
        ("value", ctypes.c_ulonglong),
    ]


class Utilization(ctypes.Structure):
    _fields_ = [("gpu", ctypes.c_uint), ("memory", ctypes.c_uint)]


class Meter:
    """The sensors of one GPU. A reading that it does not have is None."""

    def __init__(self, index=0, library="libnvidia-ml.so.1"):
        self.nvml = ctypes.CDLL(library)
        if self.nvml.nvmlInit_v2() != 0:
            raise OSError("NVML does not start: is the driver loaded?")
        self.device = ctypes.c_void_p()
        if self.nvml.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(self.device)) != 0:
            raise OSError(f"NVML knows no GPU {index}")

    def _ask(self, function, kind, *before):
        value = kind()
        try:
            status = getattr(self.nvml, function)(self.device, *before, ctypes.byref(value))
        except AttributeError:  # an older driver
            return None
        return value if status == 0 else None

    def _number(self, function, kind, *before, scale=1):
        value = self._ask(function, kind, *before)
        return None if value is None else value.value * scale

    def _text(self, function, *before):
        text = ctypes.create_string_buffer(96)
        status = getattr(self.nvml, function)(*before, text, 96)
        return text.value.decode() if status == 0 else None

    def _field(self, field):
        value = FieldValue(field=field)
        try:
            status = self.nvml.nvmlDeviceGetFieldValues(self.device, 1, ctypes.byref(value))
        except AttributeError:
            return None
        # Milliwatts, as an unsigned int in the low half of the union.
        return (value.value & 0xFFFFFFFF) * 1e-3 if status == 0 and value.status == 0 else None

    def about(self):
        return {
            "device": self._text("nvmlDeviceGetName", self.device),
            "driver": self._text("nvmlSystemGetDriverVersion"),
            "power_limit_w": self._number("nvmlDeviceGetEnforcedPowerLimit", ctypes.c_uint, scale=1e-3),
            "core_mhz_most": self._number("nvmlDeviceGetMaxClockInfo", ctypes.c_uint, CLOCK_SM),
            "memory_mhz_most": self._number("nvmlDeviceGetMaxClockInfo", ctypes.c_uint, CLOCK_MEMORY),
        }

    def energy(self):
        """Joules since the driver was loaded, and the power now: cheap, read often."""
        instant = self._field(POWER_INSTANT)
        return {
            "energy_j": self._number("nvmlDeviceGetTotalEnergyConsumption", ctypes.c_ulonglong, scale=1e-3),
            "instant_w": instant,
            "average_w": self._field(POWER_AVERAGE),
            # What older GPUs have: on some an average, on some the last sample.
            "usage_w": self._number("nvmlDeviceGetPowerUsage", ctypes.c_uint, scale=1e-3) if instant is None else None,
        }

    def state(self):
        utilization = self._ask("nvmlDeviceGetUtilizationRates", Utilization)
        return {
            "core_mhz": self._number("nvmlDeviceGetClockInfo", ctypes.c_uint, CLOCK_SM),
            "memory_mhz": self._number("nvmlDeviceGetClockInfo", ctypes.c_uint, CLOCK_MEMORY),
            "temperature_c": self._number("nvmlDeviceGetTemperature", ctypes.c_uint, 0),
            "utilisation": None if utilization is None else utilization.gpu / 100,
            "limits": self._number("nvmlDeviceGetCurrentClocksThrottleReasons", ctypes.c_ulonglong),
        }


class Recorder:
    """Reads a meter in the background while its block runs. Times are those of the monotonic clock, which bench.cu reads, too."""

    def __init__(self, meter):
        self.meter = meter
        self.samples = []
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self._record, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()

    def _record(self):
        next_state = 0.0
        while not self.stop.is_set():
            before = time.monotonic()
            sample = self.meter.energy()
            # The reading is from somewhere within the call.
            sample["t"] = (before + time.monotonic()) / 2
            if before >= next_state:
                sample.update(self.meter.state())
                next_state = before + STATE_EVERY
            self.samples.append(sample)
            self.stop.wait(max(0.0, ENERGY_EVERY - (time.monotonic() - before)))


def mean(values):
    values = [value for value in values if value is not None]
    return sum(values) / len(values) if values else None


def deviation(values):
    values = [value for value in values if value is not None]
    if len(values) < 2:
        return None
    middle = mean(values)
    return (sum((value - middle) ** 2 for value in values) / (len(values) - 1)) ** 0.5


def slope(samples):
    """Watts from the energy counter: the line through the readings at which it had just moved. It moves in steps, ten to fifty a second."""
    moved = [
        (now["t"], now["energy_j"])
        for last, now in zip(samples, samples[1:])
        if None not in (last["energy_j"], now["energy_j"]) and now["energy_j"] != last["energy_j"]
    ]
    if len(moved) < 5:
        return None
    middle_t, middle_e = mean([t for t, _ in moved]), mean([e for _, e in moved])
    return sum((t - middle_t) * (e - middle_e) for t, e in moved) / sum((t - middle_t) ** 2 for t, _ in moved)


def limited_by(states):
    """The limits that held in more than a twentieth of the readings."""
    known = [state["limits"] for state in states if state["limits"] is not None]
    often = [name for bit, name in LIMITS.items() if sum(1 for limits in known if limits & bit) * 20 > len(known)]
    return "+".join(often)


def summary(samples, begin, end):
    """The means between two times, as columns of watts.csv."""
    inside = [sample for sample in samples if begin <= sample["t"] <= end]
    states = [sample for sample in inside if "core_mhz" in sample]
    readings = {
        "energy": slope(inside),
        "instant": mean(sample["instant_w"] for sample in inside),
        "usage": mean(sample["usage_w"] for sample in inside),
    }
    source = next((name for name, watts in readings.items() if watts is not None), None)
    clocks = [state["core_mhz"] for state in states if state["core_mhz"] is not None]
    return {
        "power_w": readings.get(source),
        "power_from": source,
        "instant_w": readings["instant"],
        "instant_sd_w": deviation(sample["instant_w"] for sample in inside),
        "average_w": mean(sample["average_w"] for sample in inside),
        "core_mhz": mean(clocks),
        "core_mhz_least": min(clocks, default=None),
        "memory_mhz": mean(state["memory_mhz"] for state in states),
        "temperature_c": mean(state["temperature_c"] for state in states),
        "utilisation": mean(state["utilisation"] for state in states),
        "limited_by": limited_by(states),
    }
