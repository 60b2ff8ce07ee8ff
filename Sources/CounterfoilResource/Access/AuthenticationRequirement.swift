import Foundation

/// How recently, and in which way, a person must have signed in for what a route does.
///
/// RFC 9470 §3. An access token that was obtained by an older or weaker sign-in is good and yet not enough: the client is told what
/// would be, and can ask the person to sign in again.
public struct AuthenticationRequirement: Sendable, Hashable {
    /// The longest time since the person signed in, in seconds; wire name `max_age`, nil for any.
    public var maxAge: Int?
    /// The ways of signing in of which one will do, best first; wire name `acr_values`, empty for any.
    public var contexts: [String]

    /// Requires an age, a way, or both.
    public init(maxAge: Int? = nil, contexts: [String] = []) {
        self.maxAge = maxAge
        self.contexts = contexts
    }

    /// Whether a sign-in will do; one of which nothing is known, or which is yet to come, will not.
    func isMet(by access: VerifiedAccess, at now: Date, clockSkew: TimeInterval) -> Bool {
        if let maxAge {
            guard let age = access.authTime.map(now.timeIntervalSince) else { return false }
            guard (-clockSkew...TimeInterval(maxAge)).contains(age) else { return false }
        }
        return contexts.isEmpty
            || contexts.contains { access.authenticationContext?.utf8.elementsEqual($0.utf8) ?? false }
    }
}
