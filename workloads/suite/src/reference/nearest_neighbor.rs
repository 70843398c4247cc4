//! Distances of records from a target; a record's text has its latitude and longitude in hundredths of a degree.

use super::{Inputs, Outputs};

pub(crate) fn nearest_neighbor(inputs: &Inputs<'_>) -> Outputs {
    let (latitude, longitude) = (inputs.f32("latitude"), inputs.f32("longitude"));
    let records = inputs.bytes("records").chunks(32);
    let distances = records.map(|record| {
        let north = degrees(&record[12..17]) - latitude;
        let east = degrees(&record[20..25]) - longitude;
        north.mul_add(north, east * east).sqrt()
    });
    Outputs::default().f32s("distance", &distances.collect::<Vec<_>>())
}

fn degrees(digits: &[u8]) -> f32 {
    let text = std::str::from_utf8(digits).expect("records are ASCII");
    text.parse::<u32>().expect("digits") as f32 * 0.01
}
