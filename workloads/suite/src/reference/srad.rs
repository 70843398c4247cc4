//! Two iterations of speckle-reducing anisotropic diffusion (Yu and Acton, IEEE Trans. Image Processing 11, 2002), with a
//! given speckle scale.

use super::{Inputs, Outputs};

pub(crate) fn srad(inputs: &Inputs<'_>) -> Outputs {
    let filter = Filter {
        width: inputs.size("width"),
        height: inputs.size("height"),
        speckle: inputs.f32("speckle"),
        rate: inputs.f32("rate"),
    };
    let first = filter.diffuse(&inputs.f32s("image"));
    let coefficients = filter.coefficients(&first);
    let second = filter.diffuse(&first);
    Outputs::default()
        .f32s("image", &second)
        .f32s("next", &first)
        .f32s("coefficient", &coefficients)
}

struct Filter {
    width: usize,
    height: usize,
    speckle: f32,
    rate: f32,
}

impl Filter {
    /// Pixels to the north, south, west and east; at the image's edge the pixel itself.
    fn neighbours(&self, pixel: usize) -> [usize; 4] {
        let (x, y) = (pixel % self.width, pixel / self.width);
        let at = |x: usize, y: usize| y.min(self.height - 1) * self.width + x.min(self.width - 1);
        [
            at(x, y.saturating_sub(1)),
            at(x, y + 1),
            at(x.saturating_sub(1), y),
            at(x + 1, y),
        ]
    }

    fn coefficients(&self, image: &[f32]) -> Vec<f32> {
        (0..image.len())
            .map(|pixel| self.coefficient(image, pixel))
            .collect()
    }

    fn coefficient(&self, image: &[f32], pixel: usize) -> f32 {
        let here = image[pixel];
        let [north, south, west, east] = self.neighbours(pixel).map(|there| image[there] - here);
        let squares = north.mul_add(north, south.mul_add(south, west.mul_add(west, east * east)));
        let gradient = squares / (here * here);
        let laplacian = ((north + south) + (west + east)) / here;
        let numerator = gradient.mul_add(0.5, -0.0625 * (laplacian * laplacian));
        let spread = laplacian.mul_add(0.25, 1.0);
        let variation = numerator / (spread * spread);
        let excess = (variation - self.speckle) / (self.speckle * (1.0 + self.speckle));
        (1.0 / (1.0 + excess)).clamp(0.0, 1.0)
    }

    /// The coefficient of a pixel weighs its flow to the north and west, its neighbours' that to the south and east.
    fn diffuse(&self, image: &[f32]) -> Vec<f32> {
        let weights = self.coefficients(image);
        let pixel = |pixel: usize| {
            let here = image[pixel];
            let [north, south, west, east] = self.neighbours(pixel);
            let mut flow = weights[pixel] * (image[north] - here);
            flow = weights[south].mul_add(image[south] - here, flow);
            flow = weights[pixel].mul_add(image[west] - here, flow);
            flow = weights[east].mul_add(image[east] - here, flow);
            (0.25 * self.rate).mul_add(flow, here)
        };
        (0..image.len()).map(pixel).collect()
    }
}
