import Foundation

extension TimeInterval {
    /// Whether so many seconds have passed since a date; a clock that was set back counts as passed.
    func hasPassed(since date: Date?, at now: Date) -> Bool {
        date.map { abs(now.timeIntervalSince($0)) >= self } ?? true
    }
}
