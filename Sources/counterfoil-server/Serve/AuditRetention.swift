import ArgumentParser

/// The retention of audit log events, as given with `--audit-retention`.
struct AuditRetention: ExpressibleByArgument, CustomStringConvertible {
    /// The number of days, 1 to 36500; nil means forever.
    let days: Int?

    init(days: Int?) { self.days = days }

    init?(argument: String) {
        if argument == "forever" {
            days = nil
        } else if let number = Int(argument), (1...36_500).contains(number) {
            days = number
        } else {
            return nil
        }
    }

    var description: String { days.map(String.init) ?? "forever" }

    var defaultValueDescription: String { description }
}
