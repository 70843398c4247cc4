// A benchmark as the runner sees it: a name, what is known of it beforehand, and a way to launch it.
#pragma once

#include <functional>
#include <string>
#include <vector>

struct Launch {
  // `iterations` is how long the kernel's loop is; applications have none and ignore it.
  std::function<void(unsigned iterations)> start;
  bool has_loop = true;
  int grid = 0, block = 0;
  // Of one iteration, or of a launch without a loop.
  double operations = 0, bytes = 0;
};

struct Benchmark {
  std::string name, role, part, operation;
  // Compute capability times ten that it needs.
  int needs = 0;
  std::function<Launch(const cudaDeviceProp&)> prepare;
};
