//! Escape times of z <- z^2 + c.

use super::{Inputs, Outputs};

pub(crate) fn mandelbrot(inputs: &Inputs<'_>) -> Outputs {
    let (width, height) = (inputs.size("width"), inputs.size("height"));
    let (x0, y0, step) = (inputs.f32("x0"), inputs.f32("y0"), inputs.f32("step"));
    let limit = inputs.size("limit") as i32;
    let mut times = Vec::new();
    for y in 0..height {
        for x in 0..width {
            let c = [(x as f32).mul_add(step, x0), (y as f32).mul_add(step, y0)];
            times.push(escape_time(c, limit));
        }
    }
    Outputs::default().i32s("escape", &times)
}

fn escape_time([real, imaginary]: [f32; 2], limit: i32) -> i32 {
    let (mut zr, mut zi) = (0.0f32, 0.0f32);
    for time in 0..limit {
        let (rr, ii) = (zr * zr, zi * zi);
        if rr + ii > 4.0 {
            return time;
        }
        (zr, zi) = ((rr - ii) + real, (2.0 * zr).mul_add(zi, imaginary));
    }
    limit
}
