//! One explicit step of heat flow with a power map; beyond the edge lies a copy of the edge.

use super::{Inputs, Outputs};

pub(crate) fn stencil5(inputs: &Inputs<'_>) -> Outputs {
    let (width, height) = (inputs.size("width"), inputs.size("height"));
    let (temperature, power) = (inputs.f32s("temp"), inputs.f32s("power"));
    let [spread, heat, sink, ambient] =
        ["spread", "heat", "sink", "ambient"].map(|name| inputs.f32(name));
    let mut next = Vec::new();
    for y in 0..height {
        for x in 0..width {
            let at = |x: usize, y: usize| temperature[y.min(height - 1) * width + x.min(width - 1)];
            let here = at(x, y);
            let vertical = at(x, y.saturating_sub(1)) + at(x, y + 1);
            let around = vertical + (at(x.saturating_sub(1), y) + at(x + 1, y));
            let flow = here.mul_add(-4.0, around);
            let value = spread.mul_add(flow, here);
            let value = heat.mul_add(power[y * width + x], value);
            next.push(sink.mul_add(ambient - here, value));
        }
    }
    Outputs::default().f32s("next", &next)
}
