//! Scores of global alignments with a linear gap penalty (Needleman and Wunsch, J. Mol. Biol. 48, 1970), row after row.

use super::{Inputs, Outputs};

pub(crate) fn needleman_wunsch(inputs: &Inputs<'_>) -> Outputs {
    let (width, gap) = (inputs.size("width"), inputs.size("gap") as i32);
    let similarity = inputs.i32s("similarity");
    let mut scores = inputs.i32s("scores");
    for cell in width..scores.len() {
        if cell % width == 0 {
            continue; // the first column is given
        }
        let both = scores[cell - width - 1] + similarity[cell];
        let one = scores[cell - 1].max(scores[cell - width]) - gap;
        scores[cell] = both.max(one);
    }
    Outputs::default().i32s("scores", &scores)
}
