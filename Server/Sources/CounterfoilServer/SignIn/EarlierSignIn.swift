import CounterfoilProtocol
import CounterfoilStore
import Crypto
import Foundation

/// The user who signed in before in this browser, as stored in an encrypted cookie
/// (draft-ietf-oauth-native-apps-03 §8.3).
///
/// The sign-in page shows this user as a hint, and fills in the username. A phishing page cannot read the cookie and
/// therefore cannot show the hint, whose absence can make the user suspicious. The hint comes from the cookie alone. It
/// does not depend on the store, on `login_hint` or on a typed username.
///
/// The cookie also tells that the user has signed in here, so that the failures of others do not count here
/// (``SignInKeys``).
struct EarlierSignIn: Sendable, Hashable {
    let user: UserIdentifier
    let name: DisplayName
    let email: MaskedEmail?
    let username: Username
    /// Whether the browser keeps the cookie of the session when it is closed.
    let staysSignedIn: Bool
    /// A digest of the password hash at the sign-in, or of the fact that there was none.
    private let passwordMark: String

    private struct Content: Codable {
        let person: String
        let name: String
        let email: String?
        let username: String
        let staysSignedIn: Bool
        let passwordMark: String
    }

    init(_ user: User, staysSignedIn: Bool) {
        self.user = user.id
        self.staysSignedIn = staysSignedIn
        name = DisplayName(of: user)
        email = MaskedEmail(of: user)
        username = user.username
        passwordMark = Self.mark(of: user.passwordHash)
    }

    /// Returns a digest of a password hash, or of none, which tells whether the password has changed.
    static func mark(of hash: PasswordHash?) -> String {
        Base64URL.encode(SHA256.hash(data: Array((hash?.exposed ?? "").utf8)).prefix(9))
    }

    /// Decrypts the value of the cookie; returns nil if this server did not issue it.
    init?(cookie: String, keys: DerivedKeys) {
        guard cookie.utf8.count <= 2048, let sealed = Base64URL.decode(cookie),
            let bytes = try? keys.open(sealed).bytes,
            let content = try? JSONDecoder().decode(Content.self, from: Data(bytes)),
            let user = UserIdentifier(content.person), let username = Username(content.username)
        else { return nil }
        self.user = user
        name = DisplayName(content.name)
        email = content.email.map(MaskedEmail.init(masked:))
        self.username = username
        staysSignedIn = content.staysSignedIn
        passwordMark = content.passwordMark
    }

    /// Returns true if this is the sign-in of a user with the password that the user has now.
    func holds(for current: User) -> Bool {
        user == current.id && passwordMark == Self.mark(of: current.passwordHash)
    }

    /// Returns the value of the cookie, which only this server can decrypt; nil if the encryption fails.
    func cookie(keys: DerivedKeys) -> String? {
        let content = Content(
            person: user.rawValue, name: name.description, email: email?.description, username: username.rawValue,
            staysSignedIn: staysSignedIn, passwordMark: passwordMark)
        guard let bytes = try? JSONEncoder().encode(content),
            let sealed = try? keys.seal(Array(bytes))
        else { return nil }
        return Base64URL.encode(sealed)
    }
}

/// The reader and writer of the cookie that holds the user who signed in before.
struct EarlierSignIns: Sendable {
    let keys: DerivedKeys
    let cookies: Cookies

    /// Returns the user who signed in before in the browser that sent a request.
    func of(_ request: IncomingRequest) -> EarlierSignIn? {
        request.cookie(cookies.earlierName).flatMap { EarlierSignIn(cookie: $0, keys: keys) }
    }

    /// A browser in which a user has signed in before, with the password that the user has now.
    struct Browser: Sendable {
        /// The content of the cookie, which differs after each sign-in, and which only this server can make.
        let mark: String
    }

    /// Returns the browser that sent a request; nil if it is not known that the user has signed in there.
    ///
    /// A sign-in with a former password does not count: an attacker who knew it could have collected many cookies.
    func browser(in request: IncomingRequest, of user: User?) -> Browser? {
        guard let user, let earlier = of(request), earlier.holds(for: user),
            // A cookie can have several spellings with the same content.
            let sealed = request.cookie(cookies.earlierName).flatMap({ Base64URL.decode($0) })
        else { return nil }
        return Browser(mark: Base64URL.encode(sealed))
    }

    /// Returns the `Set-Cookie` value that remembers a user; nil if the encryption fails.
    func remember(_ user: User, staysSignedIn: Bool) -> String? {
        EarlierSignIn(user, staysSignedIn: staysSignedIn).cookie(keys: keys).map(cookies.earlier)
    }
}
