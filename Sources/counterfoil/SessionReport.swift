import CounterfoilClient
import CounterfoilPlatform

/// The names of the members of a token response that count as absent because their values are not valid.
struct IgnoredMembers {
    let names: [String]

    /// A clause for a message or for --verbose.
    var clause: String {
        "the server's token response has \(names.count == 1 ? "an invalid value" : "invalid values"), which this program "
            + "ignores: \(names.joined(separator: ", "))"
    }
}

extension CommandOutput {
    /// Reports the refreshes of a session from now on: each with --verbose, and always what was not used of a response.
    func follow(_ session: TokenSession) { session.observe { tell($0) } }

    private func tell(_ event: TokenSession.Event) {
        switch event {
        case .refreshed(let expires):
            detail("refreshed the access token, which " + Self.end(expires))
        case .refreshedElsewhere(let expires):
            detail("another process refreshed the access token, which " + Self.end(expires))
        case .refreshedButNotSaved(let expires, _):
            detail("refreshed the access token, which could not be stored and " + Self.end(expires))
        case .refreshFailed(let error): detail("a refresh failed: \(error)")
        case .ended(let error): detail("the session has ended: \(error)")
        case .idTokenDiscarded(let error):
            var reason = "\(error)"
            if case .unsafe(let response) = error { reason = "\(response)" }
            say("The refresh returned an ID token that is not used, and the former one stays: \(reason).")
        case .membersIgnored(let names): say(IgnoredMembers(names: names).clause.capitalizedSentence)
        case .signedIn: detail("stored the credentials of a sign-in")
        case .signedInElsewhere: detail("another process signed a user in")
        case .signedOut: detail("deleted the stored credentials")
        }
    }

    private static func end(_ expires: Date?) -> String {
        expires.map { "expires at \($0.formatted(.iso8601))" } ?? "has an expiration that the server did not send"
    }
}
