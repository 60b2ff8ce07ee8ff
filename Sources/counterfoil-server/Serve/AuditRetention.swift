import ArgumentParser

/// The retention of audit log events, as given with `--audit-retention`: ``Days``, or forever.
struct AuditRetention: ExpressibleByArgument, CustomStringConvertible {
    /// The number of days; nil means forever.
    let days: Int?

    init(days: Int?) { self.days = days }

    init?(argument: String) {
        if argument == "forever" {
            days = nil
        } else if let time = Days(argument: argument) {
            days = time.value
        } else {
            return nil
        }
    }

    var description: String { days.map(String.init) ?? "forever" }

    var defaultValueDescription: String { description }
}
