import ArgumentParser
import CounterfoilServer
import CounterfoilStore
import Foundation

/// The conditions of `audit list` and `audit export`, which are those of the page.
struct AuditFilterOptions: ParsableArguments {
    /// The forms of a time, for the help of a command.
    static let times = """
        A time is a day such as 2027-01-31, today or yesterday, which begin at 00:00; a time ago, such as 90m, 2h or \
        7d; or a time such as 2027-01-31T03:12. All of them are in the time zone of this machine, except a time with \
        its own: 2027-01-31T02:12Z or 2027-01-31T03:12+01:00. The command prints the period on standard error, in UTC \
        and in the time zone of this machine.
        """

    @Option(name: .long, help: ArgumentHelp("Only events of this kind.", valueName: "kind"))
    var kind: AuditEvent.Kind?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Only events of this user, by user name, or by the pseudonym of a deleted user.", valueName: "name"))
    var person: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Only events of this app, by client_id; with --kind sign-in, the sign-ins to it.", valueName: "id"))
    var client: String?

    @Option(name: .long, help: ArgumentHelp("Only events with this outcome.", valueName: "outcome"))
    var outcome: AuditEvent.Outcome?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Only events from this IP address; an IPv6 address stands for its network of 64 bits.",
            valueName: "address"))
    var source: String?

    @Option(
        name: .long,
        // A proxy can choose a reference that begins with a hyphen.
        parsing: .unconditional,
        help: ArgumentHelp("Only events of the request with this reference.", valueName: "reference"))
    var request: String?

    @Option(name: .long, help: ArgumentHelp("Only events at this time or later.", valueName: "time"))
    var since: String?

    @Option(name: .long, help: ArgumentHelp("Only events before this time.", valueName: "time"))
    var until: String?

    private var texts: [AuditFilter.Field: String] {
        var texts: [AuditFilter.Field: String] = [:]
        for field in AuditFilter.Field.allCases {
            texts[field] =
                switch field {
                case .kind: kind?.rawValue
                case .outcome: outcome?.rawValue
                case .person: person
                case .client: client
                case .source: source
                case .request: request
                case .since: since
                case .until: until
                }
        }
        return texts
    }

    /// Whether there is a condition other than a time.
    var hasConditions: Bool { texts.keys.contains { $0 != .since && $0 != .until } }

    func validate() throws {
        if let problem = AuditFilter(texts, at: Date(), in: .current).problems.first {
            throw ValidationError(message(problem))
        }
    }

    /// The options by the names of the parameters of the API.
    static let parameterOptions = Dictionary(
        uniqueKeysWithValues: AuditFilter.Field.allCases.map { ($0.rawValue, "--\($0.rawValue)") })

    /// Returns the filter as parameters of the API, with its times in UTC.
    func parameters(at now: Date) -> [(name: String, value: String)] {
        let query = query(at: now)
        return AuditFilter.Field.allCases.compactMap { field in
            let value =
                switch field {
                case .since: query.since.map(Moment.text)
                case .until: query.until.map(Moment.text)
                default: texts[field]
                }
            return value.map { (field.rawValue, $0) }
        }
    }

    /// Returns the query without its user.
    func query(at now: Date) -> AuditQuery { AuditFilter(texts, at: now, in: .current).query }

    /// The conditions other than the period, as they can be typed.
    var conditions: [String] {
        let options: [(AuditFilter.Field, String?)] = [
            (.kind, kind?.rawValue), (.person, person), (.client, client), (.outcome, outcome?.rawValue),
            (.source, query(at: Date()).source), (.request, request),
        ]
        return options.compactMap { field, value in value.map { "--\(field.rawValue) \($0)" } }
    }

    private func message(_ problem: AuditFilter.Problem) -> String {
        switch problem {
        // The server looks the user up.
        case .unknownUser: return "--person is not known."
        case .emptyPeriod: return "--until must be a later time than --since."
        case .invalid(let field):
            switch field {
            // ArgumentParser has refused other values.
            case .kind, .outcome: return "--\(field.rawValue) is not known."
            case .person: return "A user name has 1 to 64 letters, digits and . _ - without spaces."
            case .client: return "--client: \(client ?? "") is not a valid client_id."
            case .source: return "--source must be an IP address, such as 203.0.113.7 or 2001:db8::1."
            case .request:
                return "--request must be a whole reference: 1 to 64 letters, digits and - . _ : = + /"
            case .since, .until: return "--\(field.rawValue) must be \(Moment.searchForms)."
            }
        }
    }
}
