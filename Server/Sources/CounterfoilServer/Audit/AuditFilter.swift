import CounterfoilProtocol
package import CounterfoilStore
package import Foundation

/// The filter of the audit log, as it was typed on the page or on the command line.
package struct AuditFilter: Sendable {
    /// A part of the filter; the raw value is its name in URLs and of its option.
    package enum Field: String, Sendable, CaseIterable {
        /// The kind of the events.
        case kind
        /// The outcome of the events.
        case outcome
        /// The name of a user, or the pseudonym of a deleted user.
        case person
        /// A `client_id`.
        case client
        /// An IP address.
        case source
        /// The reference of a request.
        case request
        /// The earliest time, inclusive.
        case since
        /// The time before which the events are.
        case until
    }

    /// A part of the filter that is not understood.
    package enum Problem: Sendable, Hashable {
        /// The text is none of the forms or values of the field.
        case invalid(Field)
        /// No account has the name.
        case unknownUser
        /// The end is not after the beginning.
        case emptyPeriod

        package var field: Field {
            switch self {
            case .invalid(let field): field
            case .unknownUser: .person
            case .emptyPeriod: .until
            }
        }
    }

    /// The query, without the user until ``findUser(in:)``.
    ///
    /// It holds only without ``problems``: a part that is not understood must not widen the result.
    package private(set) var query: AuditQuery
    package private(set) var problems: [Problem] = []
    private var username: Username?

    /// Parses a filter.
    ///
    /// - Parameters:
    ///   - texts: The typed texts; a field that is missing is no condition.
    ///   - now: The current time.
    ///   - zone: The time zone of times without one.
    ///   - limit: The maximum number of events to return.
    package init(_ texts: [Field: String], at now: Date, in zone: TimeZone, limit: Int = 100) {
        var problems: [Problem] = []
        func read<Value>(_ field: Field, as value: (String) -> Value?) -> Value? {
            guard let text = texts[field] else { return nil }
            let value = value(text)
            if value == nil { problems.append(.invalid(field)) }
            return value
        }
        query = AuditQuery(
            kind: read(.kind, as: AuditEvent.Kind.init(known:)),
            clientID: read(.client) { ClientIdentifier($0) },
            outcome: read(.outcome, as: AuditEvent.Outcome.init(known:)),
            source: read(.source) { CountedSource(typed: $0)?.name },
            requestID: read(.request) { IncomingRequest.isIdentifier($0) ? $0 : nil },
            since: read(.since) { Moment.parse($0, at: now, in: zone) },
            until: read(.until) { Moment.parse($0, at: now, in: zone, .last) },
            limit: limit)
        if let pseudonym = texts[.person].flatMap(UserIdentifier.init), pseudonym.isPseudonym {
            query.userID = pseudonym
        } else {
            username = read(.person) { Username($0) }
        }
        if let since = query.since, let until = query.until, since >= until { problems.append(.emptyPeriod) }
        self.problems = problems
    }

    /// Looks the user up by name; if there is none, it is a problem.
    package mutating func findUser(in store: any UserStore) async throws(StoreFault) {
        guard let username else { return }
        query.userID = try await store.userID(named: username)
        if query.userID == nil { problems.append(.unknownUser) }
    }
}

extension AuditEvent.Outcome {
    /// Creates the outcome with a name; nil if this version records no such outcome.
    package init?(known name: String) {
        guard let outcome = Self.allCases.first(where: { $0.rawValue == name }) else { return nil }
        self = outcome
    }
}
