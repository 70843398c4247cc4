//! Whitted's ray tracing (CACM 23(6), 1980) of spheres over a chequered floor, a ray after the other.

use super::{Inputs, Outputs};

type Vector = [f32; 3];

const FAR: f32 = 1e30;
const NEAR: f32 = 1e-3;
const MIRROR: f32 = 0.25;
const LIGHT: Vector = [0.48, 0.8, -0.36];
/// A ray meets this many surfaces at most.
const SURFACES: usize = 4;

pub(crate) fn ray_trace(inputs: &Inputs<'_>) -> Outputs {
    let (width, height) = (inputs.size("width"), inputs.size("height"));
    let scene = Scene {
        spheres: inputs.f32s("spheres").as_chunks().0.to_vec(),
        shade: inputs.f32s("shade"),
    };
    let mut image = Vec::new();
    for y in 0..height {
        for x in 0..width {
            let step = 2.0 / width as f32;
            let way = [
                step.mul_add(x as f32, -1.0),
                (-step).mul_add(y as f32, 0.75),
                1.5,
            ];
            let brightness = scene.follow([0.0, 1.5, -6.0], unit(way));
            image.push((brightness.clamp(0.0, 1.0) * 255.0) as u8);
        }
    }
    Outputs::default().with("image", image.into_iter())
}

struct Scene {
    /// Centre and radius.
    spheres: Vec<[f32; 4]>,
    shade: Vec<f32>,
}

/// What a ray meets.
enum Met {
    Sky,
    Floor(f32),
    Sphere(usize, f32),
}

impl Scene {
    /// What a ray sees, with what mirrors show it.
    fn follow(&self, mut from: Vector, mut way: Vector) -> f32 {
        let (mut brightness, mut weight) = (0.0f32, 1.0f32);
        for _ in 0..SURFACES {
            let (distance, sphere) = match self.meet(from, way) {
                Met::Sky => return weight.mul_add(way[1].mul_add(0.5, 0.4), brightness),
                Met::Floor(distance) => (distance, None),
                Met::Sphere(sphere, distance) => (distance, Some(sphere)),
            };
            let point = along(from, way, distance);
            let (normal, surface) = match sphere {
                Some(sphere) => {
                    let [x, y, z, _] = self.spheres[sphere];
                    (unit(minus(point, [x, y, z])), self.shade[sphere])
                }
                None => ([0.0, 1.0, 0.0], floor(point)),
            };
            brightness =
                (weight * (1.0 - MIRROR)).mul_add(surface * self.light(point, normal), brightness);
            weight *= MIRROR;
            way = along(way, normal, -2.0 * dot(way, normal));
            from = point;
        }
        brightness
    }

    fn meet(&self, from: Vector, way: Vector) -> Met {
        let floor = -from[1] / way[1];
        let mut nearest = FAR;
        let mut met = Met::Sky;
        if way[1] < 0.0 && floor > NEAR {
            nearest = floor;
            met = Met::Floor(floor);
        }
        for (number, sphere) in self.spheres.iter().enumerate() {
            if let Some(distance) = reach(sphere, from, way)
                && distance < nearest
            {
                nearest = distance;
                met = Met::Sphere(number, distance);
            }
        }
        met
    }

    fn light(&self, point: Vector, normal: Vector) -> f32 {
        let facing = dot(normal, LIGHT);
        let dark = facing <= 0.0
            || self
                .spheres
                .iter()
                .any(|sphere| reach(sphere, point, LIGHT).is_some());
        if dark { 0.2 } else { facing.mul_add(0.8, 0.2) }
    }
}

/// Distance to a sphere that lies ahead.
fn reach(&[x, y, z, radius]: &[f32; 4], from: Vector, way: Vector) -> Option<f32> {
    let to = minus([x, y, z], from);
    let middle = dot(to, way);
    let inside = middle.mul_add(middle, radius * radius) - dot(to, to);
    let distance = middle - inside.sqrt();
    (inside > 0.0 && distance > NEAR).then_some(distance)
}

fn floor(point: Vector) -> f32 {
    let tile = |coordinate: f32| (coordinate + 1000.0) as i32;
    let odd = (tile(point[0]).wrapping_add(tile(point[2]))) & 1 == 1;
    if odd { 0.9 } else { 0.3 }
}

fn dot(a: Vector, b: Vector) -> f32 {
    a[0].mul_add(b[0], a[1].mul_add(b[1], a[2] * b[2]))
}

fn minus(a: Vector, b: Vector) -> Vector {
    std::array::from_fn(|axis| a[axis] - b[axis])
}

fn along(from: Vector, way: Vector, distance: f32) -> Vector {
    std::array::from_fn(|axis| distance.mul_add(way[axis], from[axis]))
}

fn unit(a: Vector) -> Vector {
    let scale = 1.0 / dot(a, a).sqrt();
    a.map(|coordinate| coordinate * scale)
}
