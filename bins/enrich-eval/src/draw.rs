//! Draws charts of the answers, as SVG.

use std::path::Path;

use anyhow::anyhow;
use plotters::prelude::*;

use crate::ask::Answered;
use crate::strict::counts;

const SIZE: (u32, u32) = (640, 480);
const LINE: RGBColor = RGBColor(31, 98, 142);

/// Draws a reliability diagram. Each point stands for a band of five percentage points of
/// confidence: the mean confidence of its answers, and the share of correct answers.
pub(crate) fn reliability(answered: &[Answered], path: &Path) -> anyhow::Result<()> {
    let mut bands = vec![(0_u32, 0_u32, 0_u32); 20];
    let asked = answered.iter().filter(|one| matches!(one.file, "observed" | "negatives"));
    for one in asked {
        let Some((_, confidence)) = &one.answer else { continue };
        let band = &mut bands[usize::from((*confidence).min(99) / 5)];
        *band = (band.0 + 1, band.1 + u32::from(one.is_right()), band.2 + u32::from(*confidence));
    }
    let points = bands.iter().filter(|(count, ..)| *count > 0).map(|(count, right, sum)| {
        let count = f64::from(*count);
        (f64::from(*sum) / count / 100.0, f64::from(*right) / count)
    });
    let points: Vec<(f64, f64)> = points.collect();
    chart(path, "Reliability", "confidence", "share right", &[(0.0, 0.0), (1.0, 1.0)], &points)
}

/// Draws precision against recall, with a point for each minimum confidence from 1 to 100 percent.
pub(crate) fn precision_recall(answered: &[Answered], path: &Path) -> anyhow::Result<()> {
    let asked = || answered.iter().filter(|one| counts(one));
    let positives = asked().filter(|one| one.file == "observed").count() as f64;
    let points = (1..=100_u8).filter_map(|least| {
        let above = asked()
            .filter(|one| one.answer.as_ref().is_some_and(|(_, confidence)| *confidence >= least));
        let (right, all) = above
            .fold((0_u32, 0_u32), |(right, all), one| (right + u32::from(one.is_right()), all + 1));
        (all > 0).then(|| (f64::from(right) / positives, f64::from(right) / f64::from(all)))
    });
    let points: Vec<(f64, f64)> = points.collect();
    let wanted = [(0.0, 0.95), (1.0, 0.95)];
    chart(path, "Precision and recall", "recall", "precision", &wanted, &points)
}

/// Draws a chart whose axes go from 0 to 1. It has a line with `points`, and a thin line through
/// `compared` for comparison.
fn chart(
    path: &Path,
    title: &str,
    across: &str,
    up: &str,
    compared: &[(f64, f64)],
    points: &[(f64, f64)],
) -> anyhow::Result<()> {
    let failed =
        |error: &dyn std::error::Error| anyhow!("{} can't be drawn: {error}", path.display());
    let area = SVGBackend::new(path, SIZE).into_drawing_area();
    area.fill(&WHITE).map_err(|error| failed(&error))?;
    let mut chart = ChartBuilder::on(&area)
        .caption(title, ("sans-serif", 22))
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(52)
        .build_cartesian_2d(0.0..1.0, 0.0..1.0)
        .map_err(|error| failed(&error))?;
    chart
        .configure_mesh()
        .x_desc(across)
        .y_desc(up)
        .label_style(("sans-serif", 14))
        .draw()
        .map_err(|error| failed(&error))?;
    let thin = LineSeries::new(compared.iter().copied(), BLACK.mix(0.4));
    chart.draw_series(thin).map_err(|error| failed(&error))?;
    let line = LineSeries::new(points.iter().copied(), LINE.stroke_width(2));
    chart.draw_series(line).map_err(|error| failed(&error))?;
    let dots = points.iter().map(|point| Circle::new(*point, 3, LINE.filled()));
    chart.draw_series(dots).map_err(|error| failed(&error))?;
    area.present().map_err(|error| failed(&error))
}
