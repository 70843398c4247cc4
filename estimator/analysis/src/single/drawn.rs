//! What a board draws while a kernel runs.

use serde_json::{Map, Value, json};
use warpwatt_board::board::{Board, Prediction};
use warpwatt_board::counted::row;
use warpwatt_board::split::parts;
use warpwatt_gpu::{GpuSpec, Run};

use crate::diag::Diag;

/// Power of a board over a kernel.
pub struct Drawn {
    board: String,
    limit_w: f64,
    prediction: Prediction,
}

impl Drawn {
    /// That of `run` on `gpu`, which is the board's.
    ///
    /// # Errors
    /// The preset is not that of the board.
    pub fn of(
        kernel: &str,
        (preset, gpu): (&str, &GpuSpec),
        run: &Run,
        board: &Board,
    ) -> Result<Self, Diag> {
        let facts = &board.facts;
        if preset != facts.preset {
            let message = format!(
                "the GPU is `{preset}`, that of the board `{}` is `{}`",
                facts.name, facts.preset
            );
            return Err(Diag::error("kernel::board", message).help(format!(
                "leave --preset out, or say `--preset {}`",
                facts.preset
            )));
        }
        let row = row(kernel, (run.cycles, &run.activity), gpu, facts);
        Ok(Self {
            board: facts.name.clone(),
            limit_w: facts.power_limit_w,
            prediction: board.predict(&row),
        })
    }

    /// Its key of the kernel's document.
    pub fn value(&self) -> Value {
        let mut value = prediction(&self.prediction);
        value["name"] = json!(self.board);
        value
    }

    /// Lines of text.
    pub fn text(&self) -> String {
        let drawn = &self.prediction;
        let mut text = format!(
            "  board {}: {:.0} W, 95 % within {:.0} to {:.0} W\n",
            self.board, drawn.power_w, drawn.low_w, drawn.high_w
        );
        for (part, watts) in parts().zip(drawn.split.watts()) {
            if watts >= 0.05 {
                text += &format!("    {:<44}{watts:>7.1} W\n", part.words);
            }
        }
        if drawn.clipped {
            text += &format!(
                "    more than its limit of {} W: the board would slow down\n",
                self.limit_w
            );
        }
        text
    }
}

/// Watts with their interval and what they are for, as data.
pub fn prediction(drawn: &Prediction) -> Value {
    let mut value = json!({
        "power_w": drawn.power_w, "low_w": drawn.low_w, "high_w": drawn.high_w, "clipped": drawn.clipped,
    });
    let mut dynamic = Map::new();
    for (part, watts) in parts().zip(drawn.split.watts()) {
        match part.dynamic {
            true => drop(dynamic.insert(part.key.to_owned(), json!(watts))),
            false => value[format!("{}_w", part.key)] = json!(watts),
        }
    }
    value["dynamic_w"] = Value::Object(dynamic);
    value
}
