# A contestant in Python: see harness.R.
import gc, glob, os, re, sys, time

stem = sys.argv[1]
part = lambda name: open(f"{stem}.{name}").read().strip()


def resident(field):
    return int(re.search(field + r":\s*(\d+)", open("/proc/self/status").read()).group(1)) * 1024


def reset_peak():
    gc.collect()
    try:
        open("/proc/self/clear_refs", "w").write("5")
    except OSError:
        pass
    return resident("VmRSS")


def answer(*fields):
    print(*fields, flush=True)


try:
    import numpy as np

    for file in glob.glob(os.path.join(os.path.dirname(stem), "*.bin")):
        n, d = np.fromfile(file, "i4", 2)
        values = np.fromfile(file, "f8", offset=8).reshape(d, n).T
        # Row by row, as Python users have it.
        globals()[os.path.basename(file)[:-4]] = np.ascontiguousarray(values)
    exec(part("setup"))
    job, value = compile(part("job"), "job", "eval"), compile(part("value"), "value", "eval")
except ImportError:
    answer("not installed")
    sys.exit()
except Exception as error:
    answer(str(error).replace("\n", " "))
    sys.exit()

answer("ready")
for question in sys.stdin:
    before = reset_peak()
    begin, spent = time.perf_counter(), time.process_time()
    result = eval(job)
    seconds, spent = time.perf_counter() - begin, time.process_time() - spent
    peak = resident("VmHWM")
    number = float(eval(value))
    # Tidy up before answering: the next contestant is to have the machine to itself.
    result = None
    gc.collect()
    answer(seconds, peak - before, repr(number), spent)
