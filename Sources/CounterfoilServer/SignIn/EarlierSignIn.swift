import CounterfoilProtocol
import Crypto
import Foundation

/// Who signed in here before, as this browser's own cookie tells it (draft-ietf-oauth-native-apps-03 §8.3).
///
/// A page that only looks like ours cannot read the cookie, so somebody who misses the hint has reason to wonder. Nothing is
/// looked up: a `login_hint` or a name that is typed never shows it.
package struct EarlierSignIn: Sendable, Hashable {
    /// The name.
    package let name: DisplayName
    /// The e-mail address, masked.
    package let email: MaskedEmail?

    private struct Content: Codable {
        let name: String
        let email: String?
    }

    init(_ person: Person) {
        name = DisplayName(person.displayName, orElse: person.username.rawValue)
        email = person.email.map { MaskedEmail($0.rawValue) }
    }

    /// What a cookie holds, or nil when it is none of ours.
    init?(cookie: String, key: SymmetricKey) {
        guard cookie.utf8.count <= 1024, let sealed = Base64URL.decode(cookie),
            let box = try? AES.GCM.SealedBox(combined: sealed), let bytes = try? AES.GCM.open(box, using: key),
            let content = try? JSONDecoder().decode(Content.self, from: bytes)
        else { return nil }
        name = DisplayName(content.name)
        email = content.email.map(MaskedEmail.init(masked:))
    }

    /// The value of the cookie: sealed, so that only this server reads what it says.
    func cookie(key: SymmetricKey) -> String? {
        let content = Content(name: name.description, email: email?.description)
        guard let bytes = try? JSONEncoder().encode(content),
            let sealed = try? AES.GCM.seal(bytes, using: key).combined
        else { return nil }
        return Base64URL.encode(sealed)
    }
}

/// The cookie of earlier sign-ins, as pages read and write it.
package struct EarlierSignIns: Sendable {
    let key: SymmetricKey
    let cookies: Cookies

    /// Who signed in before in the browser that sent a request.
    package func of(_ request: IncomingRequest) -> EarlierSignIn? {
        request.cookie(cookies.earlierName).flatMap { EarlierSignIn(cookie: $0, key: key) }
    }

    /// The cookie that remembers somebody who has just signed in.
    package func remember(_ person: Person) -> String? { EarlierSignIn(person).cookie(key: key).map(cookies.earlier) }
}
