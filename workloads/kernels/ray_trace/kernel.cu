// Ray tracing (Whitted, CACM 23(6), 1980): spheres over a chequered floor under one distant light, with shadows and
// mirror reflections. A thread follows the ray of one pixel.
#include "../common/device.cuh"

constexpr int BOUNCES = 3;
constexpr float NEAR = 1e-3f, FAR = 1e30f, MIRROR = 0.25f, AMBIENT = 0.2f;

struct Vector {
  float x, y, z;
};

__device__ __forceinline__ float dot(Vector a, Vector b) { return fmaf(a.x, b.x, fmaf(a.y, b.y, a.z * b.z)); }
__device__ __forceinline__ Vector along(Vector from, Vector way, float t) {
  return {fmaf(t, way.x, from.x), fmaf(t, way.y, from.y), fmaf(t, way.z, from.z)};
}
__device__ __forceinline__ Vector unit(Vector a) {
  const float scale = 1.0f / sqrtf(dot(a, a));
  return {a.x * scale, a.y * scale, a.z * scale};
}

// Spheres, four numbers each: centre and radius.
struct Scene {
  const float4* spheres;
  int count;
};

// Distance to a sphere, or FAR.
__device__ __forceinline__ float reach(float4 sphere, Vector from, Vector way) {
  const Vector to = {sphere.x - from.x, sphere.y - from.y, sphere.z - from.z};
  const float middle = dot(to, way);
  const float inside = fmaf(middle, middle, sphere.w * sphere.w) - dot(to, to);
  if (inside <= 0.0f) return FAR;
  const float t = middle - sqrtf(inside);
  return t > NEAR ? t : FAR;
}

// The nearest hit: sphere, -1 for the floor, -2 for nothing.
__device__ __forceinline__ int nearest(const Scene& scene, Vector from, Vector way, float& distance) {
  int hit = -2;
  distance = FAR;
  if (way.y < 0.0f) {
    const float t = -from.y / way.y;
    if (t > NEAR) {
      hit = -1;
      distance = t;
    }
  }
#pragma unroll 1
  for (int k = 0; k < scene.count; ++k) {
    const float t = reach(scene.spheres[k], from, way);
    if (t < distance) {
      hit = k;
      distance = t;
    }
  }
  return hit;
}

__device__ __forceinline__ bool shadowed(const Scene& scene, Vector from, Vector light) {
#pragma unroll 1
  for (int k = 0; k < scene.count; ++k)
    if (reach(scene.spheres[k], from, light) < FAR) return true;
  return false;
}

extern "C" __global__ void ray_trace(const float4* spheres, const float* shade, unsigned char* image, int count, int width,
                                     int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const Scene scene = {spheres, count};
  const Vector light = {0.48f, 0.8f, -0.36f};
  Vector from = {0.0f, 1.5f, -6.0f};
  const float step = 2.0f / (float)width;
  Vector way = unit({fmaf(step, (float)x, -1.0f), fmaf(-step, (float)y, 0.75f), 1.5f});
  float brightness = 0.0f, weight = 1.0f;
#pragma unroll 1
  for (int bounce = 0; bounce <= BOUNCES; ++bounce) {
    float distance;
    const int hit = nearest(scene, from, way, distance);
    if (hit == -2) {
      brightness = fmaf(weight, fmaf(0.5f, way.y, 0.4f), brightness);
      break;
    }
    const Vector point = along(from, way, distance);
    Vector normal = {0.0f, 1.0f, 0.0f};
    float surface;
    if (hit < 0) {
      const int tile = (int)(point.x + 1000.0f) + (int)(point.z + 1000.0f);
      surface = tile & 1 ? 0.9f : 0.3f;
    } else {
      const float4 sphere = spheres[hit];
      normal = unit({point.x - sphere.x, point.y - sphere.y, point.z - sphere.z});
      surface = shade[hit];
    }
    float lit = AMBIENT;
    const float facing = dot(normal, light);
    if (facing > 0.0f && !shadowed(scene, point, light)) lit = fmaf(0.8f, facing, lit);
    brightness = fmaf(weight * (1.0f - MIRROR), surface * lit, brightness);
    weight *= MIRROR;
    way = along(way, normal, -2.0f * dot(way, normal));
    from = point;
  }
  image[y * width + x] = (unsigned char)(int)(min(max(brightness, 0.0f), 1.0f) * 255.0f);
}
