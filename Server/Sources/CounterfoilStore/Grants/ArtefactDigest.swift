@_spi(Counterfoil) public import CounterfoilProtocol
package import Crypto

/// The SHA-256 digest that a store keeps in place of a value that is secret or can be used only once, such as a code,
/// a session token or the `jti` of an assertion.
///
/// The digest covers the kind of the value and its text. A digest of one kind, such as a code, therefore never matches
/// a record of another kind, such as a session.
public struct ArtefactDigest: Sendable, Hashable {
    /// The 32 bytes of the digest.
    public let bytes: [UInt8]

    /// Restores a digest from a store; nil unless it has 32 bytes.
    public init?(stored bytes: [UInt8]) {
        guard bytes.count == SHA256.byteCount else { return nil }
        self.bytes = bytes
    }

    /// Creates the digest of an authorization code, the key of ``GrantStore/code(_:)``.
    public init(of code: AuthorizationCode) { self.init(kind: "authorization code", text: code.exposed) }

    /// Creates the digest of a `device_code`, the key of ``DeviceAuthorizationStore/pollDevice(_:by:at:)``.
    public init(of code: DeviceCode) { self.init(kind: "device code", text: code.exposed) }

    /// Creates the digest of a `user_code`, whatever its case and punctuation were.
    package init(of code: UserCode) { self.init(kind: "user code", text: code.letters) }

    /// Creates the digest of the settings with which a certificate is ordered.
    package init(ofOrderSettings text: String) { self.init(kind: "certificate order", text: text) }

    /// Creates the digest of a session token, the key of ``SessionStore/session(_:)``.
    public init(of token: SessionToken) { self.init(kind: "session", text: token.exposed) }

    /// Creates the digest of the identifier of a page that a user can answer only once (``CodeRecord/interaction``).
    public init(of interaction: InteractionIdentifier) { self.init(kind: "interaction", text: interaction.rawValue) }

    /// Creates the digest of the secret of a client or an API, to be stored or compared with a stored digest.
    public init(of secret: ClientSecret) { self.init(kind: "client secret", text: secret.exposed) }

    /// Creates the digest of a stored digest, for ``ClientSecretRecord/shortID``.
    package init(naming secret: ClientSecretRecord) {
        self.init(kind: "name of a client secret", text: Base64URL.encode(secret.digest.bytes))
    }

    /// Creates the digest of the `request_uri` of a pushed authorization request (``PushedRequest/digest``).
    package init(of uri: PushedRequestURI) { self.init(kind: "pushed request", text: uri.rawValue) }

    /// Creates the digest of the name of a token family, which each refresh token of the family contains.
    public init(ofFamily name: [UInt8]) { self.init(kind: "refresh token", text: Base64URL.encode(name)) }

    /// Creates the digest of the `jti` of a client assertion and its client, because two clients may use the same
    /// `jti`.
    public init(ofAssertion identifier: String, of client: ClientIdentifier) {
        self.init(kind: "client assertion", text: client.rawValue + "\0" + identifier)
    }

    /// Creates the digest of an initial access token (RFC 7591 §3), the key of
    /// ``UnregisteredClientStore/initialAccessToken(_:at:)``.
    package init(of token: InitialAccessTokenText) { self.init(kind: "initial access token", text: token.exposed) }

    /// Creates the digest of a `registration_access_token` (``DynamicRegistration/accessToken``).
    package init(of token: RegistrationAccessToken) {
        self.init(kind: "registration access token", text: token.exposed)
    }

    /// Creates the digest of a stored digest, for ``InitialAccessToken/shortID``.
    package init(naming token: InitialAccessToken) {
        self.init(kind: "name of an initial access token", text: Base64URL.encode(token.digest.bytes))
    }

    /// Creates the digest of a credential ID, the key of ``PasskeyStore/passkey(_:)``.
    public init(ofCredentialID id: [UInt8]) { self.init(kind: "credential", text: Base64URL.encode(id)) }

    /// Creates the digest of the challenge of a passkey, which counts once, from the form ticket that determines it.
    package init(ofChallenge ticket: String) { self.init(kind: "challenge", text: ticket) }

    /// Creates the digest of the identifier of a request to another issuer, which is answered once.
    package init(ofExternalSignIn id: String) { self.init(kind: "external sign-in", text: id) }

    /// Creates the digest of the secret in a link to an email address (``EmailVerification/digest``).
    package init(of secret: MailLinkSecret) { self.init(kind: "mail link", text: secret.exposed) }

    /// Creates the digest of the secret in a link by which a user sets a new password (``UserLink/digest``).
    package init(ofUserLink secret: MailLinkSecret) { self.init(kind: "user link", text: secret.exposed) }

    /// Creates the digest of the token of the browser in which a user asks for a link (``UserLink/Request/browser``).
    package init(ofBrowser token: String) { self.init(kind: "browser", text: token) }

    /// Creates the digest of the key of a request, with its caller and operation (``RepeatableRequest/digest``).
    package init(ofRepeatableRequest text: String) { self.init(kind: "repeatable request", text: text) }

    /// Creates the digest of the path and the body of a repeatable request (``RepeatableRequest/content``).
    package init(ofRepeatableContent text: String) { self.init(kind: "repeatable content", text: text) }

    /// Creates the digest of the secret in a link with which a person creates an account.
    package init(of secret: SignUpSecret) { self.init(kind: "sign-up link", text: secret.exposed) }

    /// Creates the digest of the cookie of the browser in which a person asks for an account (``SignUp/browser``).
    package init(ofSignUpBrowser token: String) { self.init(kind: "sign-up browser", text: token) }

    /// Creates the digest of a stored digest, for ``Invitation/shortID``.
    package init(naming invitation: Invitation) {
        self.init(kind: "name of an invitation", text: Base64URL.encode(invitation.digest.bytes))
    }

    /// Creates the digest of the random secret of a second factor (``SecondFactor/digest``).
    package init(ofSecondFactor secret: [UInt8]) {
        self.init(kind: "second factor", text: Base64URL.encode(secret))
    }

    /// Creates the digest of a recovery code from a message authentication code.
    ///
    /// A code that people type is short, so a plain digest would reveal it to a reader of the store.
    package init(ofRecoveryCode code: HMAC<SHA256>.MAC) { bytes = code.copiedBytes }

    /// Creates the digest under which attempts are counted, from a message authentication code.
    ///
    /// The names that users type are easy to guess, so a plain digest would reveal them to a reader of the store.
    package init(ofAttempts code: HMAC<SHA256>.MAC) { bytes = code.copiedBytes }

    private init(kind: String, text: String) {
        var hash = SHA256()
        hash.update(data: Array("counterfoil \(kind)\0".utf8))
        hash.update(data: Array(text.utf8))
        bytes = hash.finalize().copiedBytes
    }
}
