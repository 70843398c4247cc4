//! The priced area of a chip to scale, coloured by power density. Placement is not a floorplan: a treemap says how large things are, not where they lie.

mod shades;
mod tiles;

pub use tiles::Tiles;

use shades::Shades;
use tiles::{Group, Tile};

use super::squarify::{Rect, squarify};
use super::svg::{Anchor, Canvas};
use super::{WIDTH, at_most, round, text_width};
use crate::format;
use crate::metric::quantity;
use crate::outcome::Outcome;

/// Width over height of a chip on the picture. Nothing is known of the true one.
const SHAPE: f64 = 1.5;
/// Free space at the left and at the right.
const MARGIN: f64 = 4.0;
/// Height of the line above the chip and of what stands below.
const ABOVE: f64 = 24.0;
const BELOW: f64 = 44.0;
/// Height of a line of a label, and what a label keeps free around it.
const LINE: f64 = 15.0;
const FREE: f64 = 4.0;

/// Chips at one scale and with one legend, a picture each; nothing of one without area.
pub fn dies(points: &[&Outcome], id: &str) -> Vec<String> {
    let chips = points.iter().map(|point| (*point, Tiles::of(point)));
    let chips: Vec<(&Outcome, Tiles)> = chips
        .filter(|(_, tiles)| !tiles.groups.is_empty())
        .collect();
    let widths = chips.iter().map(|(_, tiles)| width_m(tiles));
    let scale = (WIDTH - 2.0 * MARGIN) / widths.fold(0.0, f64::max);
    let first = chips.first().map(|(_, tiles)| tiles.whole().density());
    let shades = Shades::around(first.unwrap_or(0.0));
    let numbered = chips.iter().zip(1..);
    let pictures = numbered.map(|((point, tiles), number)| {
        let id = format!("{id}-{number}");
        draw(point, tiles, (scale, &shades), &id)
    });
    pictures.collect()
}

/// Width of the chip.
fn width_m(tiles: &Tiles) -> f64 {
    (SHAPE * tiles.whole().area_m2).sqrt()
}

/// Where each group and each of its structures lies, in units of the canvas. `scale` is units a metre.
fn places<'t, 'o>(tiles: &'t Tiles<'o>, scale: f64) -> Vec<(&'t Group<'o>, Rect, Vec<Rect>)> {
    let width = scale * width_m(tiles);
    let area = |tile: &Tile| scale * scale * tile.area_m2;
    let groups: Vec<f64> = tiles.groups.iter().map(|it| area(&it.whole())).collect();
    let spaces = squarify(&groups, [MARGIN, ABOVE, width, width / SHAPE]);
    let inside = tiles.groups.iter().zip(spaces).map(|(group, space)| {
        let areas: Vec<f64> = group.tiles.iter().map(area).collect();
        (group, space, squarify(&areas, space))
    });
    inside.collect()
}

fn draw(point: &Outcome, tiles: &Tiles, (scale, shades): (f64, &Shades), id: &str) -> String {
    let mut canvas = Canvas::default();
    let whole = tiles.whole();
    let figures = figures(&whole);
    canvas.text(Anchor::End, WIDTH - MARGIN, 10.0, &figures);
    let room = (WIDTH - text_width(&figures)) / text_width(" ") - 3.0;
    let kernel = at_most(room as usize, &point.point.kernel.name);
    canvas.text_of("strong", Anchor::Start, MARGIN, 10.0, &kernel);
    let places = places(tiles, scale);
    for (group, _, rects) in &places {
        for (tile, rect) in group.tiles.iter().zip(rects) {
            let class = format!("tile {}", shades.class(tile.density()));
            canvas.rect(&class, *rect, &tooltip(tile));
        }
    }
    for (group, space, rects) in &places {
        canvas.rect("frame", *space, &tooltip(&group.whole()));
        for (place, (tile, rect)) in group.tiles.iter().zip(rects).enumerate() {
            let heading = (place == 0).then_some(group.name);
            label(&mut canvas, tile, *rect, heading);
        }
    }
    let bottom = ABOVE + scale * width_m(tiles) / SHAPE + 12.0;
    ruler(&mut canvas, scale, width_m(tiles), bottom);
    shades.legend(&mut canvas, WIDTH - MARGIN, bottom);
    let description = format!(
        "A rectangle for every priced structure with an area on the chip, all instances together, by group: {figures} while {} runs. The table of structures has the areas. Placement is not a floorplan.",
        point.point.kernel.name
    );
    let title = format!("Priced area to scale, {}", point.point.technique);
    canvas.finish(id, &title, &description, [WIDTH, bottom + BELOW - 12.0])
}

/// Area, power and power density.
fn figures(tile: &Tile) -> String {
    format!(
        "{} mm², {}, {} W/mm²",
        format::three(1e6 * tile.area_m2),
        quantity::show(tile.power_w, "W"),
        format::three(tile.density())
    )
}

fn tooltip(tile: &Tile) -> String {
    format!("{}: {}", tile.name, figures(tile))
}

/// What fits into a rectangle: the name, above it that of the group, below it the area; in a narrow one the name from top to bottom.
fn label(canvas: &mut Canvas, tile: &Tile, [left, top, width, height]: Rect, group: Option<&str>) {
    let fits = |text: &str| text_width(text) + 2.0 * FREE <= width;
    let rows = ((height - 2.0 * FREE) / LINE).max(0.0) as usize;
    let name = broken(tile.name, &fits).filter(|parts| parts.len() <= rows);
    let Some(name) = name else {
        if text_width(tile.name) + 2.0 * FREE <= height && width >= LINE {
            canvas.text_down(left + width / 2.0, top + FREE, tile.name);
        }
        return;
    };
    let group = group.map(|group| group.replace('_', " "));
    let heading = group.filter(|group| fits(group) && rows > name.len());
    let area = format!("{} mm²", format::three(1e6 * tile.area_m2));
    let lines = heading.iter().map(String::as_str).chain(name);
    let mut lines: Vec<&str> = lines.collect();
    if fits(&area) && rows > lines.len() {
        lines.push(&area);
    }
    for (row, text) in lines.into_iter().enumerate() {
        let y = top + FREE + LINE * (row as f64 + 0.5);
        match row == 0 && heading.is_some() {
            true => canvas.text_of("strong", Anchor::Start, left + FREE, y, text),
            false => canvas.text(Anchor::Start, left + FREE, y, text),
        }
    }
}

/// A name in one line, or in two that are broken where its words meet.
fn broken<'n>(name: &'n str, fits: &impl Fn(&str) -> bool) -> Option<Vec<&'n str>> {
    if fits(name) {
        return Some(vec![name]);
    }
    let breaks = name.match_indices(['_', '.']).map(|(at, _)| at + 1);
    let mut halves = breaks.map(|at| name.split_at(at));
    let (first, second) = halves.find(|(first, second)| fits(first) && fits(second))?;
    Some(vec![first, second])
}

/// A bar of a round length, about a quarter of the chip's width.
fn ruler(canvas: &mut Canvas, scale: f64, width_m: f64, y: f64) {
    let length_mm = round::number(round::below(1e3 * width_m / 4.0));
    let right = MARGIN + scale * 1e-3 * length_mm;
    canvas.line("ruler", [MARGIN, y + 5.0, right, y + 5.0]);
    for end in [MARGIN, right] {
        canvas.line("ruler", [end, y, end, y + 10.0]);
    }
    canvas.text(Anchor::Start, MARGIN, y + 19.0, &format!("{length_mm} mm"));
}

#[cfg(test)]
mod tests;
