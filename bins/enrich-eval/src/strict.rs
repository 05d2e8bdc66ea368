//! Statistics that the evaluation set's `score.py` does not print.

use std::io::Write;

use crate::ask::Answered;

/// Reports the highest recall at several precisions, for names of companies only. The evaluation
/// set's `score.py` computes the same figures for all names.
pub(crate) fn tell(answered: &[Answered], out: &mut dyn Write) -> anyhow::Result<()> {
    let is_company = |one: &&Answered| one.query.entity_kind == "company" && counts(one);
    let positives = answered.iter().filter(is_company).filter(|one| one.file == "observed").count();
    for precision in [0.90, 0.95, 0.98] {
        let best = (1..=100_u8)
            .filter_map(|least| {
                let above = answered.iter().filter(is_company).filter(|one| {
                    one.answer.as_ref().is_some_and(|(_, confidence)| *confidence >= least)
                });
                let (right, all) = above.fold((0_u32, 0_u32), |(right, all), one| {
                    (right + u32::from(one.is_right()), all + 1)
                });
                let is_precise = all > 0 && f64::from(right) >= precision * f64::from(all);
                is_precise.then(|| f64::from(right) / positives as f64)
            })
            .fold(0.0, f64::max);
        writeln!(out, "companies alone at precision {precision:.2}: recall {best:.3}")?;
    }
    Ok(())
}

/// Whether a query is included when precision and recall are computed. Two kinds of queries are
/// included:
///
/// - Observed names that the evaluation set does not mark as `opaque`.
/// - Names that no company has (`negatives`).
pub(crate) fn counts(one: &Answered) -> bool {
    match one.file {
        "observed" => one.query.stratum != "opaque",
        "negatives" => true,
        _ => false,
    }
}

impl Answered {
    pub(crate) fn is_right(&self) -> bool {
        self.answer.as_ref().is_some_and(|(domain, _)| self.query.is_right(domain))
    }
}
