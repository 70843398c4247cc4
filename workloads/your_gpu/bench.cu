// Runs one benchmark on the GPU and says on standard output, as JSON, what it did and when. run.py starts it, and reads the power meanwhile.
//
//   bench list                                      the benchmarks that the GPU can run
//   bench run NAME --warm SECONDS --seconds SECONDS warm-up, then the loop that is measured
//   bench once NAME --iterations N                  one launch, for a profiler
#include <cuda_profiler_api.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ctime>

#include "applications.cuh"
#include "micro.cuh"

namespace {

// The clock that run.py reads, too.
double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

Launch nothing(const cudaDeviceProp&) {
  Launch launch;
  launch.has_loop = false;
  return launch;
}

std::vector<Benchmark> all_benchmarks() {
  std::vector<Benchmark> all = {{"idle", "fit", "idle", "", 0, nothing}};
  for (auto&& more : {micro_benchmarks(), applications()}) all.insert(all.end(), more.begin(), more.end());
  return all;
}

cudaDeviceProp device_of_process() {
  cudaDeviceProp device;
  CHECKED(cudaSetDevice(0));
  CHECKED(cudaGetDeviceProperties(&device, 0));
  return device;
}

int capability(const cudaDeviceProp& device) { return 10 * device.major + device.minor; }

// `wgmma` is of Hopper alone; what else has a lower bound runs on all that is newer.
bool can_run(const Benchmark& benchmark, const cudaDeviceProp& device) {
  return benchmark.needs == 90 ? capability(device) == 90 : capability(device) >= benchmark.needs;
}

void list(const cudaDeviceProp& device) {
  std::printf("{\"device\":\"%s\",\"capability\":%d,\"sms\":%d,\"l2_bytes\":%d}\n", device.name, capability(device),
              device.multiProcessorCount, device.l2CacheSize);
  for (const Benchmark& benchmark : all_benchmarks()) {
    if (!can_run(benchmark, device)) continue;
    std::printf("{\"name\":\"%s\",\"role\":\"%s\",\"part\":\"%s\"}\n", benchmark.name.c_str(), benchmark.role.c_str(),
                benchmark.part.c_str());
  }
}

class Events {
 public:
  Events() {
    CHECKED(cudaEventCreate(&first_));
    CHECKED(cudaEventCreate(&last_));
  }
  void begin() { CHECKED(cudaEventRecord(first_)); }
  void end() { CHECKED(cudaEventRecord(last_)); }
  double seconds() {
    float milliseconds = 0;
    CHECKED(cudaEventSynchronize(last_));
    CHECKED(cudaEventElapsedTime(&milliseconds, first_, last_));
    return 1e-3 * milliseconds;
  }

 private:
  cudaEvent_t first_, last_;
};

double time_of(const Launch& launch, unsigned iterations) {
  Events events;
  events.begin();
  launch.start(iterations);
  CHECKED(cudaGetLastError());
  events.end();
  return events.seconds();
}

// So many iterations that a launch takes about 20 ms: long beside its start, short beside the measurement.
unsigned fitting_iterations(const Launch& launch) {
  constexpr double wanted = 0.02, enough = 0.002;
  if (!launch.has_loop) return 0;
  unsigned iterations = 16;
  time_of(launch, iterations);
  double seconds = time_of(launch, iterations);
  while (seconds < enough && iterations < 1u << 30) {
    iterations *= 4;
    seconds = time_of(launch, iterations);
  }
  const double fitting = iterations * wanted / seconds;
  return static_cast<unsigned>(std::min(std::max(fitting, 1.0), 4.0e9));
}

struct Run {
  double begin, end, kernel_seconds;
  long long launches;
};

// Launches in batches, of which one is always queued behind the one that runs, so that the GPU never waits.
Run run_for(const Launch& launch, unsigned iterations, double seconds) {
  const double one = std::max(time_of(launch, iterations), 1e-6);
  const int batch = std::max(1, static_cast<int>(std::ceil(0.05 / one)));
  cudaEvent_t done[2];
  for (cudaEvent_t& event : done) CHECKED(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  Events whole;
  Run run = {now(), 0, 0, 0};
  whole.begin();
  for (int turn = 0; now() - run.begin < seconds; ++turn) {
    if (turn >= 2) CHECKED(cudaEventSynchronize(done[turn % 2]));
    for (int k = 0; k < batch; ++k) launch.start(iterations);
    CHECKED(cudaGetLastError());
    CHECKED(cudaEventRecord(done[turn % 2]));
    run.launches += batch;
  }
  whole.end();
  run.kernel_seconds = whole.seconds();
  run.end = now();
  return run;
}

Run rest_for(double seconds) {
  const double begin = now();
  timespec pause = {static_cast<time_t>(seconds), static_cast<long>(1e9 * (seconds - std::floor(seconds)))};
  nanosleep(&pause, nullptr);
  return {begin, now(), 0, 0};
}

void run(const Benchmark& benchmark, const cudaDeviceProp& device, double warm, double seconds) {
  const Launch launch = benchmark.prepare(device);
  const bool idle = !launch.start;
  const unsigned iterations = idle ? 0 : fitting_iterations(launch);
  if (idle) {
    rest_for(warm);
  } else {
    run_for(launch, iterations, warm);
  }
  const Run measured = idle ? rest_for(seconds) : run_for(launch, iterations, seconds);
  const double work = static_cast<double>(measured.launches) * (launch.has_loop ? iterations : 1);
  std::printf(
      "{\"begin\":%.6f,\"end\":%.6f,\"kernel_seconds\":%.6f,\"launches\":%lld,\"iterations\":%u,\"grid\":%d,\"block\":%d,"
      "\"operation\":\"%s\",\"operations\":%.17g,\"bytes\":%.17g}\n",
      measured.begin, measured.end, measured.kernel_seconds, measured.launches, iterations, launch.grid, launch.block,
      benchmark.operation.c_str(), work * launch.operations, work * launch.bytes);
}

void once(const Benchmark& benchmark, const cudaDeviceProp& device, unsigned iterations) {
  const Launch launch = benchmark.prepare(device);
  // What was launched to prepare is of no interest to a profiler.
  CHECKED(cudaProfilerStart());
  if (launch.start) launch.start(iterations);
  CHECKED(cudaGetLastError());
  CHECKED(cudaDeviceSynchronize());
  CHECKED(cudaProfilerStop());
}

double option(int count, char** words, const char* name, double otherwise) {
  for (int i = 3; i + 1 < count; ++i) {
    if (std::strcmp(words[i], name) == 0) return std::atof(words[i + 1]);
  }
  return otherwise;
}

int refused(const char* why) {
  std::fprintf(stderr, "bench: %s\nusage: bench list | bench run NAME [--warm S] [--seconds S] | bench once NAME --iterations N\n", why);
  return 2;
}

}  // namespace

int main(int count, char** words) {
  const std::string verb = count > 1 ? words[1] : "";
  if (verb != "list" && !((verb == "run" || verb == "once") && count > 2)) return refused("no such command");
  const cudaDeviceProp device = device_of_process();
  if (verb == "list") return list(device), 0;
  for (const Benchmark& benchmark : all_benchmarks()) {
    if (benchmark.name != words[2]) continue;
    if (!can_run(benchmark, device)) return refused("this GPU does not have what the benchmark measures");
    if (verb == "run") {
      run(benchmark, device, option(count, words, "--warm", 1), option(count, words, "--seconds", 4));
    } else {
      once(benchmark, device, static_cast<unsigned>(option(count, words, "--iterations", 1)));
    }
    return 0;
  }
  return refused("no such benchmark");
}
