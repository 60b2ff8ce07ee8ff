public import CounterfoilProtocol
package import CounterfoilStore

/// The persons who may create an account of their own.
///
/// Operators create accounts whatever the policy is.
public enum SignUpPolicy: String, Sendable, Hashable, CaseIterable {
    /// No one, which is the default.
    case closed
    /// Persons with an invitation of an operator.
    case invited
    /// Every person with an email address, and persons with an invitation.
    case open
}

/// The terms of the service, which every user must accept in their current version.
public struct Terms: Sendable, Hashable {
    /// The https URL of the terms.
    public let uri: AbsoluteURI
    /// The name of the version; a user who accepted another one must accept this one.
    public let version: String
}

extension ServerSettings {
    /// The terms of the service; nil if there are none.
    package var terms: Terms? {
        guard let termsURI, let termsVersion else { return nil }
        return Terms(uri: termsURI, version: termsVersion)
    }

    /// Returns the terms that a user has not accepted in their current version; nil if there are none.
    package func unacceptedTerms(of user: User) -> Terms? {
        terms.flatMap { user.acceptedTerms?.version == $0.version ? nil : $0 }
    }
}
