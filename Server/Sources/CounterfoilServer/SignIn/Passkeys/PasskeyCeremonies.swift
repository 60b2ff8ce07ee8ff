@_spi(Counterfoil) package import CounterfoilProtocol
package import CounterfoilStore
package import Foundation
package import WebAuthn

/// The ceremonies of passkeys for an issuer: the options for its pages, and the verification of the answers
/// (WebAuthn §7).
///
/// The challenge of a page is derived from its form ticket. It is thus bound to the browser, the request and the page,
/// and it expires with them.
package struct PasskeyCeremonies: Sendable {
    private let relyingParty: RelyingParty

    /// Creates the ceremonies of an issuer; nil if a browser offers no passkeys for it.
    ///
    /// A passkey belongs to a domain (WebAuthn §5.1.2). A host that is an address has none.
    package init?(_ issuer: Issuer) {
        guard let host = (try? AbsoluteURI(parsing: issuer.rawValue))?.host.map(DomainName.canonical),
            issuer.isSecure || host == "localhost", DomainName.isValid(host), !DomainName.isNumeric(host)
        else { return nil }
        relyingParty = RelyingParty(id: host, origins: [issuer.origin])
    }

    /// The domain of the passkeys (WebAuthn §4, RP ID): the host of the issuer.
    package var domain: String { relyingParty.id }

    /// Returns the options of a page that asks for any passkey of this server, or for one of a user, in JSON
    /// (WebAuthn §5.1.9).
    ///
    /// - Parameters:
    ///   - ticket: The ticket of the form.
    ///   - passkeys: The passkeys of the user; empty for any.
    ///   - isSecondFactor: Whether the password was verified before, so that the user need not be verified again.
    package func requestOptions(
        answering ticket: String, of passkeys: [Passkey] = [], asSecondFactor isSecondFactor: Bool = false
    ) -> String {
        var options = RequestOptions(relyingPartyID: relyingParty.id, challenge: Challenge(hashing: ticket))
        if isSecondFactor { options.userVerification = .discouraged }
        options.allowedCredentials = passkeys.compactMap(CredentialDescriptor.init(of:))
        return String(decoding: options.json, as: UTF8.self)
    }

    /// Returns the options of a page on which a user adds a passkey, in JSON (WebAuthn §5.1.8).
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - passkeys: The passkeys that the user has; an authenticator with one of them adds no other.
    ///   - siteName: The name of the server, which some browsers show.
    ///   - ticket: The ticket of the form.
    ///   - isUpgrade: Whether the browser may add the passkey without asking the user, after a sign-in with a password
    ///     (WebAuthn §5.1.3, conditional mediation).
    package func creationOptions(
        for user: User, with passkeys: [Passkey], siteName: String, answering ticket: String, isUpgrade: Bool = false
    ) -> String {
        var options = CreationOptions(
            relyingPartyID: relyingParty.id, relyingPartyName: siteName,
            user: CreationOptions.User(
                handle: UserHandle(of: user.id), name: user.username.rawValue,
                displayName: DisplayName(of: user).description),
            challenge: Challenge(hashing: ticket))
        options.userVerification = isUpgrade ? .preferred : .required
        options.excludedCredentials = passkeys.compactMap(CredentialDescriptor.init(of:))
        return String(decoding: options.json, as: UTF8.self)
    }

    /// Returns the options of a page on which a user adds a security key as a second factor, in JSON.
    ///
    /// It asks for no PIN, because it comes after the password, and for no place in the memory of the key.
    package func securityKeyOptions(
        for user: User, with known: [Passkey], siteName: String, answering ticket: String
    ) -> String {
        var options = CreationOptions(
            relyingPartyID: relyingParty.id, relyingPartyName: siteName,
            user: CreationOptions.User(
                handle: UserHandle(of: user.id), name: user.username.rawValue,
                displayName: DisplayName(of: user).description),
            challenge: Challenge(hashing: ticket))
        options.userVerification = .discouraged
        options.residentKey = .discouraged
        options.hints = [.securityKey]
        options.excludedCredentials = known.compactMap(CredentialDescriptor.init(of:))
        return String(decoding: options.json, as: UTF8.self)
    }

    /// Returns the passkeys and the names of a user in JSON, with which the script notifies the browser
    /// (WebAuthn §5.1.10).
    package func signalData(_ passkeys: [Passkey], of user: User) -> String {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("id", Base64URL.encode(UserHandle(of: user.id).bytes))
            writer.member("name", user.username.rawValue)
            writer.member("displayName", DisplayName(of: user).description)
            writer.member(
                "credentials",
                list: { writer in
                    for passkey in passkeys { writer.element(Base64URL.encode(passkey.credentialID)) }
                })
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// Returns the name of the product that keeps a passkey, such as iCloud Keychain; nil if it is unknown.
    package static func product(of passkey: Passkey) -> String? { AAGUID(passkey.model)?.authenticatorName }

    /// Verifies a new passkey (WebAuthn §7.1).
    ///
    /// - Parameters:
    ///   - json: The answer of the browser (WebAuthn §5.1, `RegistrationResponseJSON`).
    ///   - ticket: The ticket of the form.
    ///   - isUpgrade: Whether the browser may have asked nothing of the user (§7.1 step 15). Each sign-in with the
    ///     passkey verifies the user nevertheless.
    ///   - isSecurityKey: Whether it is to prove the second factor only, so that it need not verify the user.
    ///   - user: The user who adds it.
    ///   - name: Returns the name of the passkey from that of its authenticator, which is nil if it is unknown.
    ///   - now: The time of the request.
    package func newPasskey(
        _ json: String, answering ticket: String, isUpgrade: Bool = false, isSecurityKey: Bool = false, of user: User,
        naming name: (String?) -> String, now: Date
    ) throws(CeremonyRefusal) -> Passkey {
        let response = try WebAuthn.RegistrationResponse(json: Array(json.utf8))
        let credential = try RegistrationCeremony(
            relyingParty: relyingParty, challenge: Challenge(hashing: ticket),
            requiresUserVerification: !isUpgrade && !isSecurityKey, requiresUserPresence: !isUpgrade,
            algorithms: COSEAlgorithm.offered
        ).verify(response)
        return Passkey(
            credentialID: credential.id.bytes, userID: user.id, publicKey: credential.publicKey.coseBytes,
            name: name(credential.aaguid.authenticatorName), model: credential.aaguid.bytes,
            transports: credential.transports.map(\.rawValue), isBackupEligible: credential.isBackupEligible,
            isBackedUp: credential.isBackedUp, signatureCounter: credential.signatureCounter, createdAt: now)
    }

    /// Verifies a sign-in with a passkey, or a second factor (WebAuthn §7.2).
    ///
    /// - Parameters:
    ///   - response: The answer of the browser.
    ///   - passkey: The passkey with the credential ID of the answer.
    ///   - ticket: The ticket of the form.
    ///   - namesUser: Whether the options named the passkeys of its user, so that the answer may leave out the user
    ///     handle (step 6).
    ///   - isSecondFactor: Whether the password was verified before, so that the user need not be verified again.
    func verify(
        _ response: AuthenticationResponse, with passkey: Passkey, answering ticket: String, namesUser: Bool,
        asSecondFactor isSecondFactor: Bool = false
    ) throws(PasskeyRefusal) -> VerifiedAssertion {
        guard let credential = StoredCredential(passkey) else { throw .unusable }
        do throws(CeremonyRefusal) {
            return try AuthenticationCeremony(
                relyingParty: relyingParty, challenge: Challenge(hashing: ticket),
                requiresUserVerification: !isSecondFactor, allowedCredentials: [],
                user: namesUser ? UserHandle(of: passkey.userID) : nil
            ).verify(response, with: credential)
        } catch { throw .ceremony(error) }
    }
}

/// The cause for which a sign-in with a passkey is refused, for the audit log.
enum PasskeyRefusal: Error, CustomStringConvertible {
    /// The server offers no passkeys.
    case notOffered
    /// The stored key cannot be used by this version.
    case unusable
    /// The credential is a security key, which signs no user in without the password.
    case securityKey
    /// The credential is not one of the user.
    case otherCredential
    /// The answer of the browser breaks a rule of WebAuthn.
    case ceremony(CeremonyRefusal)

    var description: String {
        switch self {
        case .notOffered: "this server has no domain, and so no passkeys"
        case .unusable: "this version cannot use the stored key"
        case .securityKey: "a security key signs no user in without the password"
        case .otherCredential: "the user has no such security key or passkey"
        case .ceremony(let refusal): "\(refusal)"
        }
    }
}

extension UserHandle {
    /// The user handle: the identifier of the user, which is random and says nothing about the user
    /// (WebAuthn §14.6.1).
    fileprivate init(of user: UserIdentifier) { self.init(ofText: user.rawValue) }
}

extension CredentialDescriptor {
    fileprivate init?(of passkey: Passkey) {
        guard let id = CredentialID(passkey.credentialID) else { return nil }
        self.init(id: id, transports: passkey.transports.compactMap(AuthenticatorTransport.init(rawValue:)))
    }
}

extension StoredCredential {
    fileprivate init?(_ passkey: Passkey) {
        guard let id = CredentialID(passkey.credentialID),
            let key = try? CredentialPublicKey(coseBytes: passkey.publicKey)
        else { return nil }
        self.init(
            id: id, publicKey: key, signatureCounter: passkey.signatureCounter,
            userHandle: UserHandle(of: passkey.userID), isBackupEligible: passkey.isBackupEligible)
    }
}
