import CounterfoilProtocol

/// The issuer and the client whose credentials a session uses; it uses no others, whatever the store contains.
enum SessionBinding: Sendable {
    /// The client, as the app identifies it at the issuer.
    case client(ClientIdentification, at: Issuer)
    /// Any client at any issuer, for programs that manage the sign-ins of a store, such as the command line.
    ///
    /// The value is the store of the client's registrations, if it has any.
    case any(registrations: (any ClientRegistrationStore)?)

    /// Returns whether a session may use these credentials.
    func admits(_ credentials: Credentials) -> Bool {
        switch self {
        case .any: return true
        case .client(let client, let issuer):
            guard credentials.issuer == issuer else { return false }
            if let registered = client.registered[issuer] { return registered == credentials.clientID }
            return client.metadataDocument?.clientID == credentials.clientID
                || (client.registration != nil && credentials.isSelfRegistered)
        }
    }

    /// Returns the record if the session may use it; throws ``SessionError/notSignedIn(_:found:)`` otherwise.
    func admitted(_ record: TokenRecord?, in profile: ProfileName) throws(SessionError) -> TokenRecord {
        guard let record else { throw .notSignedIn(profile) }
        guard admits(record.credentials) else { throw .notSignedIn(profile, found: StoredSignIn(record)) }
        return record
    }

    /// Deletes the stored registration of a client that the server does not know any more, so that the next sign-in
    /// registers the client again.
    ///
    /// Does nothing after other errors. A failure is ignored: the next sign-in then finds out by itself.
    func forgetRegistration(of credentials: Credentials, after error: SignInError) async {
        guard credentials.isSelfRegistered, case .refused(let refusal) = error,
            refusal.code == .invalidClient || refusal.code == .unauthorizedClient
        else { return }
        let registrations: (any ClientRegistrationStore)? =
            switch self {
            case .client(let client, _): client.registration?.store
            case .any(let registrations): registrations
            }
        guard let registrations, let kept = try? await registrations.registration(at: credentials.issuer),
            kept.clientID == credentials.clientID
        else { return }
        try? await registrations.removeRegistration(at: credentials.issuer)
    }
}
