import CounterfoilConsole
@_spi(Counterfoil) import CounterfoilProtocol
package import CounterfoilServer
package import Crypto
import Foundation

/// A passkey in an authenticator, with a browser that answers the options of pages (WebAuthn §5.1).
///
/// Its properties can be changed, so that an answer breaks a rule.
package struct TestPasskey {
    package var credentialID = RandomBytes().bytes(32)
    /// UP, UV, BE and BS (WebAuthn §6.1).
    package var flags: UInt8 = 0x1D
    package var counter: UInt32 = 0
    package var origin: String
    /// Whether an assertion names the user (WebAuthn §6.3.3); a security key does not know the user.
    package var namesUser = true
    /// Another key with which assertions are signed; nil for that of the passkey.
    package var signer: P256.Signing.PrivateKey?
    private let key = P256.Signing.PrivateKey()
    private var userHandle = ""

    /// Creates a passkey for the pages of an origin.
    package init(at origin: String = "https://id.example.com") { self.origin = origin }

    /// Creates a security key that does not verify its user, as those of FIDO U2F.
    package static func securityKey() -> TestPasskey {
        var key = TestPasskey()
        (key.flags, key.namesUser) = (0x01, false)
        return key
    }

    private struct Options: Decodable {
        struct Named: Decodable { let id: String }
        let challenge: String
        let rp: Named?
        let user: Named?
        let rpId: String?
    }

    /// Answers the options of a page that adds a passkey, as `RegistrationResponseJSON`.
    package mutating func registration(for options: String) throws -> String {
        let options = try Self.read(options)
        userHandle = options.user?.id ?? ""
        let point = key.publicKey.rawRepresentation
        let coseKey: [UInt8] =
            [0xA5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20] + point.prefix(32) + [0x22, 0x58, 0x20]
            + point.suffix(32)
        let credential = [UInt8](repeating: 0, count: 16) + [0, UInt8(credentialID.count)] + credentialID + coseKey
        let data = authenticatorData(of: options.rp?.id, with: credential)
        let object: [UInt8] =
            [0xA3] + Self.text("fmt") + Self.text("none") + Self.text("attStmt") + [0xA0] + Self.text("authData")
            + [0x58, UInt8(data.count)] + data
        let id = Base64URL.encode(credentialID)
        return """
            {"id":"\(id)","rawId":"\(id)","type":"public-key","clientExtensionResults":{},"response":{\
            "clientDataJSON":"\(Base64URL.encode(clientData("create", options)))","transports":["internal"],\
            "attestationObject":"\(Base64URL.encode(object))"}}
            """
    }

    /// Answers the options of a sign-in page, as `AuthenticationResponseJSON`.
    package func assertion(for options: String) throws -> String {
        let options = try Self.read(options)
        let clientData = clientData("get", options)
        let data = authenticatorData(of: options.rpId, with: nil)
        let signature = try (signer ?? key).signature(for: data + SHA256.hash(data: clientData)).derRepresentation
        let id = Base64URL.encode(credentialID)
        return """
            {"id":"\(id)","rawId":"\(id)","type":"public-key","clientExtensionResults":{},"response":{\
            "clientDataJSON":"\(Base64URL.encode(clientData))",\(namesUser ? #""userHandle":"\#(userHandle)","# : "")\
            "authenticatorData":"\(Base64URL.encode(data))","signature":"\(Base64URL.encode(Array(signature)))"}}
            """
    }

    private static func read(_ options: String) throws -> Options {
        try JSONDecoder().decode(Options.self, from: Data(options.utf8))
    }

    private func clientData(_ type: String, _ options: Options) -> [UInt8] {
        Array(
            """
            {"type":"webauthn.\(type)","challenge":"\(options.challenge)","origin":"\(origin)","crossOrigin":false}
            """.utf8)
    }

    private func authenticatorData(of relyingParty: String?, with credential: [UInt8]?) -> [UInt8] {
        let count = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: counter >> UInt32($0)) }
        return Array(SHA256.hash(data: Array((relyingParty ?? "").utf8))) + [flags | (credential == nil ? 0 : 0x40)]
            + count + (credential ?? [])
    }

    private static func text(_ text: String) -> [UInt8] { [0x60 | UInt8(text.utf8.count)] + Array(text.utf8) }
}

extension ScriptedUserAgent {
    /// Adds a passkey on the page of the account, where the user is signed in.
    @discardableResult
    package mutating func add(_ passkey: inout TestPasskey) async throws -> Reply {
        let page = try await open("/account/passkeys").passkeysPage
        let answer = try passkey.registration(for: page.offer.options)
        return try await submit(
            FormParameters(["ticket": page.offer.ticket, "decision": "add", "passkey": answer]), to: page.offer.action)
    }

    /// Adds a security key on the page of the account, where the user is signed in and has a second factor.
    @discardableResult
    package mutating func add(_ key: inout TestPasskey, provingBy code: String) async throws -> Reply {
        let page = try await open("/account/second-factor").secondFactorPage
        let answer = try key.registration(for: page.keyOffer?.options ?? "")
        return try await submit(
            FormParameters([
                "ticket": page.ticket, "decision": "add-key", "passkey": answer, "current": code,
            ]), to: page.action)
    }

    /// Answers the page that asks for a code with a security key or a passkey.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - reply: The reply with the page.
    ///   - options: The options that it answers; nil for those of the page.
    ///   - isRemembered: Whether the browser is to be remembered.
    package mutating func use(
        _ key: TestPasskey, on reply: Reply, answering options: String? = nil, remembering isRemembered: Bool = false
    ) async throws -> Reply {
        let page = try reply.codePage
        var form = page.form("", remembering: isRemembered)
        form.append("passkey", try key.assertion(for: options ?? page.keyOptions ?? ""))
        return try await submit(form, to: page.action)
    }

    /// Signs in with a password on the page of a reply, in a browser that can create a passkey.
    package mutating func signInWherePasskeysWork(on reply: Reply, username: String = "alice") async throws -> Reply {
        let page = try reply.signInPage
        var form = page.form(username: username, password: TestServer.password)
        form.append("can_create_passkey", "true")
        return try await submit(form, to: page.action)
    }

    /// Creates a passkey on the page of a reply that offers one.
    ///
    /// - Parameters:
    ///   - passkey: The passkey.
    ///   - reply: The reply with the page.
    ///   - isUpgrade: Whether the browser asks the user nothing.
    package mutating func create(
        _ passkey: inout TestPasskey, on reply: Reply, isUpgrade: Bool = false
    ) async throws -> Reply {
        let page = try reply.passkeyOfferPage
        let answer = try passkey.registration(for: isUpgrade ? page.upgradeOptions : page.options)
        return try await submit(page.form(isUpgrade ? .upgrade : .create, passkey: answer), to: page.action)
    }

    /// Answers the sign-in page of a reply with a passkey.
    ///
    /// - Parameters:
    ///   - reply: The reply with the page.
    ///   - passkey: The passkey.
    ///   - options: The options that it answers; nil for those of the page.
    package mutating func signIn(
        on reply: Reply, with passkey: TestPasskey, answering options: String? = nil
    ) async throws -> Reply {
        let page = try reply.signInPage
        var form = FormParameters(["request": page.request, "ticket": page.ticket])
        if page.confirming != nil { form.append("step_up", "true") }
        form.append("passkey", try passkey.assertion(for: options ?? page.passkeys?.options ?? ""))
        return try await submit(form, to: page.action)
    }
}
