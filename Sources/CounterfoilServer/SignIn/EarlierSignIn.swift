import CounterfoilProtocol
import Crypto
import Foundation

/// The user who signed in before in this browser, as stored in an encrypted cookie
/// (draft-ietf-oauth-native-apps-03 §8.3).
///
/// The sign-in page shows this user as a hint. A phishing page cannot read the cookie and therefore cannot show the
/// hint, whose absence can make the user suspicious. The hint comes from the cookie alone. It does not depend on
/// the store, on `login_hint` or on a typed username.
struct EarlierSignIn: Sendable, Hashable {
    let name: DisplayName
    let email: MaskedEmail?

    private struct Content: Codable {
        let name: String
        let email: String?
    }

    init(_ person: Person) {
        name = DisplayName(of: person)
        email = MaskedEmail(of: person)
    }

    /// Decrypts the value of the cookie; returns nil if this server did not issue it.
    init?(cookie: String, key: SymmetricKey) {
        guard cookie.utf8.count <= 1024, let sealed = Base64URL.decode(cookie),
            let box = try? AES.GCM.SealedBox(combined: sealed), let bytes = try? AES.GCM.open(box, using: key),
            let content = try? JSONDecoder().decode(Content.self, from: bytes)
        else { return nil }
        name = DisplayName(content.name)
        email = content.email.map(MaskedEmail.init(masked:))
    }

    /// Returns the value of the cookie, which only this server can decrypt; nil if the encryption fails.
    func cookie(key: SymmetricKey) -> String? {
        let content = Content(name: name.description, email: email?.description)
        guard let bytes = try? JSONEncoder().encode(content),
            let sealed = try? AES.GCM.seal(bytes, using: key).combined
        else { return nil }
        return Base64URL.encode(sealed)
    }
}

/// The reader and writer of the cookie that holds the user who signed in before.
struct EarlierSignIns: Sendable {
    let key: SymmetricKey
    let cookies: Cookies

    /// Returns the user who signed in before in the browser that sent a request.
    func of(_ request: IncomingRequest) -> EarlierSignIn? {
        request.cookie(cookies.earlierName).flatMap { EarlierSignIn(cookie: $0, key: key) }
    }

    /// Returns the `Set-Cookie` value that remembers a user who has just signed in; nil if the encryption fails.
    func remember(_ person: Person) -> String? { EarlierSignIn(person).cookie(key: key).map(cookies.earlier) }
}
