import Foundation

/// The maximum age and the authentication contexts that an API requires of the user's sign-in.
///
/// RFC 9470 §3. A valid access token from an older or weaker sign-in is rejected with a challenge that states
/// the requirement. The client can then ask the user to sign in again.
public struct AuthenticationRequirement: Sendable, Hashable {
    /// The maximum time since the user signed in, in seconds; `max_age` of the challenge.
    ///
    /// Nil if a sign-in of any age is accepted.
    public var maxAge: Int?
    /// The accepted authentication contexts, in order of preference; `acr_values` of the challenge.
    ///
    /// Empty if every context is accepted.
    public var contexts: [String]

    /// Creates a requirement; with the default values, it accepts every sign-in.
    public init(maxAge: Int? = nil, contexts: [String] = []) {
        self.maxAge = maxAge
        self.contexts = contexts
    }

    /// Returns true if the sign-in of a token meets the requirement.
    ///
    /// The result is false if the token lacks a claim that the requirement needs, or if `auth_time` is later
    /// than the current time by more than the clock skew.
    func isMet(by access: VerifiedAccess, at now: Date, clockSkew: TimeInterval) -> Bool {
        if let maxAge {
            guard let age = access.authTime.map(now.timeIntervalSince) else { return false }
            guard (-clockSkew...TimeInterval(maxAge)).contains(age) else { return false }
        }
        return contexts.isEmpty
            || contexts.contains { access.authenticationContext?.utf8.elementsEqual($0.utf8) ?? false }
    }
}
