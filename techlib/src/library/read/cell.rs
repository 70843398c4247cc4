//! Memory cells out of a data file.

use super::NodeFile;
use crate::quantity::{Area, Length, Voltage};
use crate::technology::{Cell, CellFamily};
use crate::{Sourced, TechError};

/// The high-density cell with one port.
pub(super) fn read(
    file: &NodeFile,
    feature: Length,
    precharge: Sourced<Voltage>,
) -> Result<Cell, TechError> {
    if file.has("cell.area_f2") {
        return in_f(file, feature, precharge);
    }
    let area = file.get::<Area>("cell.area")?;
    let height = file.get::<Length>("cell.height")?;
    Ok(Cell {
        width: area.derived("area / height", area.value / height.value),
        height,
        access_width: file.get("cell.access_width")?,
        nmos_width: file.get("cell.nmos_width")?,
        pmos_width: file.get("cell.pmos_width")?,
        precharge,
    })
}

/// By CACTI's rules in F.
fn in_f(file: &NodeFile, feature: Length, precharge: Sourced<Voltage>) -> Result<Cell, TechError> {
    let area = file.get::<f64>("cell.area_f2")?;
    let aspect = file.get::<f64>("cell.aspect")?;
    let width = feature * (area.value / aspect.value).sqrt();
    let in_f = |name: &str| -> Result<_, TechError> {
        let widths = file.get::<f64>(name)?;
        Ok(widths.derived("width in F", feature * widths.value))
    };
    Ok(Cell {
        width: area.derived("sqrt(area / aspect) F", width),
        height: area.derived("aspect * width", width * aspect.value),
        access_width: in_f("cell.access_width_f")?,
        nmos_width: in_f("cell.nmos_width_f")?,
        pmos_width: in_f("cell.pmos_width_f")?,
        precharge,
    })
}

/// What other cells are against it; `None` where the library has only the one.
pub(super) fn family(file: &NodeFile) -> Result<Option<CellFamily>, TechError> {
    if !file.has("cell.cam_area") {
        return Ok(None);
    }
    Ok(Some(CellFamily {
        high_current_area: file.get("cell.high_current_area")?,
        high_current_drive: file.get("cell.high_current_drive")?,
        eight_t_area: file.get("cell.eight_t_area")?,
        cam_area: file.get("cell.cam_area")?,
    }))
}
