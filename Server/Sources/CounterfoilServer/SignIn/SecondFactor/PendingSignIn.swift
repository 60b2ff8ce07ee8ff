@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
import Crypto
import Foundation

/// A sign-in whose password was verified, and which waits for the second factor or for a new password.
///
/// The server stores nothing about it. The page for the code has it in an encrypted hidden field.
package struct PendingSignIn: Sendable, Hashable {
    /// The time in seconds for which the page can be answered.
    static let lifetime: TimeInterval = 10 * 60

    let user: UserIdentifier
    /// A digest of the hash of the verified password; nil if the user had none.
    let passwordMark: String?
    /// The time of the verification of the password, or of the page on which a signed-in user confirms.
    let startedAt: Date
    /// Whether the box "Keep me signed in on this device" was ticked.
    let staysSignedIn: Bool
    /// Whether the browser can create a passkey on this device.
    let canCreatePasskey: Bool
    /// The time when the session began in which a signed-in user confirms; nil for a sign-in.
    let sessionSince: Date?
    /// The action of the user on the page; no form can choose it.
    let step: Step

    /// An action of the user on the page after the password.
    enum Step: Sendable, Hashable {
        /// The user enters a code of the second factor.
        case code
        /// The user sets up the second factor.
        case setup
        /// The user chooses another password, after the proof of the second factor if there is one.
        case newPassword(SecondFactorUse?)
    }

    private struct Content: Codable {
        let user: String
        let passwordMark: String?
        let startedAt: Double
        let staysSignedIn: Bool
        let canCreatePasskey: Bool
        let sessionSince: Double?
        let step: SealedStep
    }

    init(
        of user: User, at now: Date, staysSignedIn: Bool, canCreatePasskey: Bool = false, sessionSince: Date? = nil,
        step: Step = .code
    ) {
        self.user = user.id
        passwordMark = user.passwordHash?.mark
        startedAt = now
        self.staysSignedIn = staysSignedIn
        self.canCreatePasskey = canCreatePasskey
        self.sessionSince = sessionSince
        self.step = step
    }

    /// Decrypts a hidden field; nil if it is not of this context, or too old.
    init?(field: String, of context: [UInt8], keys: DerivedKeys, now: Date) {
        guard field.utf8.count <= 1024, let sealed = Base64URL.decode(field),
            let bytes = try? keys.open(sealed, authenticating: context).bytes,
            let content = try? JSONDecoder().decode(Content.self, from: Data(bytes)),
            let user = UserIdentifier(content.user), let step = content.step.step,
            now.isWithin(Self.lifetime, after: content.startedAt)
        else { return nil }
        self.user = user
        passwordMark = content.passwordMark
        startedAt = Date(timeIntervalSince1970: content.startedAt)
        staysSignedIn = content.staysSignedIn
        canCreatePasskey = content.canCreatePasskey
        sessionSince = content.sessionSince.map { Date(timeIntervalSince1970: $0) }
        self.step = step
    }

    /// Returns the value of the hidden field.
    ///
    /// - Parameters:
    ///   - context: The browser and the request of the page, without which the field is worth nothing.
    ///   - keys: The keys of these fields.
    func field(of context: [UInt8], keys: DerivedKeys) throws -> String {
        let content = Content(
            user: user.rawValue, passwordMark: passwordMark, startedAt: startedAt.timeIntervalSince1970,
            staysSignedIn: staysSignedIn, canCreatePasskey: canCreatePasskey,
            sessionSince: sessionSince?.timeIntervalSince1970, step: SealedStep(step))
        return Base64URL.encode(try keys.seal(Array(try JSONEncoder().encode(content)), authenticating: context))
    }

    /// Returns the hash of the password with which the user can still finish the sign-in; nil if the account is
    /// disabled, or has another password or none.
    func passwordHash(of current: User) -> PasswordHash? {
        guard user == current.id, current.disabledAt == nil, let hash = current.passwordHash, passwordMark == hash.mark
        else { return nil }
        return hash
    }
}

/// The next step of a sign-in in the hidden field.
private struct SealedStep: Codable {
    private enum Kind: String, Codable { case code, setup, newPassword }

    private let kind: Kind
    /// The digest of the second factor of which a code was proved, and the time step of the code.
    private var factor: String?
    private var timeStep: Int64?
    /// The digest of the recovery code that was proved.
    private var recoveryCode: String?
    /// The security key or passkey that was proved.
    private var key: SealedKey?

    init(_ step: PendingSignIn.Step) {
        switch step {
        case .code: kind = .code
        case .setup: kind = .setup
        case .newPassword(let use):
            kind = .newPassword
            switch use {
            case .code(let digest, let step): (factor, timeStep) = (Base64URL.encode(digest.bytes), step)
            case .recoveryCode(let digest): recoveryCode = Base64URL.encode(digest.bytes)
            case .key(let digest, let use): (factor, key) = (Base64URL.encode(digest.bytes), SealedKey(use))
            // A remembered browser and a setup prove no second factor before a new password.
            case .remembered, .confirmed, .setup, nil: break
            }
        }
    }

    /// The step; nil if the field is malformed.
    var step: PendingSignIn.Step? {
        func digest(_ text: String) -> ArtefactDigest? {
            Base64URL.decode(text).flatMap(ArtefactDigest.init(stored:))
        }
        switch kind {
        case .code: return .code
        case .setup: return .setup
        case .newPassword:
            if let factor, let key {
                guard let named = digest(factor), let use = key.use else { return nil }
                return .newPassword(.key(named, use))
            }
            if let factor, let timeStep { return digest(factor).map { .newPassword(.code($0, step: timeStep)) } }
            if let recoveryCode { return digest(recoveryCode).map { .newPassword(.recoveryCode($0)) } }
            return .newPassword(nil)
        }
    }
}

/// The use of a security key or a passkey in the hidden field.
private struct SealedKey: Codable {
    private let digest: String
    private let counter: UInt32
    private let isBackedUp: Bool
    private let challenge: String
    private let expires: Double

    init(_ use: PasskeyUse) {
        digest = Base64URL.encode(use.digest.bytes)
        counter = use.signatureCounter
        isBackedUp = use.isBackedUp
        challenge = Base64URL.encode(use.challenge.bytes)
        expires = use.challengeExpires.timeIntervalSince1970
    }

    /// The use; nil if the field is malformed.
    var use: PasskeyUse? {
        guard let digest = Base64URL.decode(digest).flatMap(ArtefactDigest.init(stored:)),
            let challenge = Base64URL.decode(challenge).flatMap(ArtefactDigest.init(stored:))
        else { return nil }
        return PasskeyUse(
            digest: digest, signatureCounter: counter, isBackedUp: isBackedUp, challenge: challenge,
            challengeExpires: Date(timeIntervalSince1970: expires))
    }
}

extension Date {
    /// Returns true if this time is within a lifetime after another one, in seconds since 1970.
    ///
    /// A time more than a minute ahead counts as none, because a clock was wrong: it would be valid for too long.
    func isWithin(_ lifetime: TimeInterval, after time: Double) -> Bool {
        (-60..<lifetime).contains(timeIntervalSince1970 - time)
    }
}

extension PasswordHash {
    /// A digest by which a value outside the store shows that the password is still the same.
    var mark: String { Base64URL.encode(SHA256.hash(data: Array("counterfoil password mark\0\(exposed)".utf8))) }
}

/// The browsers in which users asked to enter no code for some days.
///
/// The value of the cookie is encrypted. It is bound to the user, the password and the second factor, so it ends when
/// one of these changes.
struct RememberedBrowsers: Sendable {
    let keys: DerivedKeys
    let cookies: Cookies
    /// The number of days; 0 if no browser is remembered.
    let days: Int

    private struct Content: Codable {
        let user: String
        let passwordMark: String
        let factor: String
        let since: Double
    }

    /// The label of the box on the page for the code; nil if no browser is remembered.
    var label: LocalizedText? {
        days > 0 ? LocalizedText("second-factor.remember", ["count": .number(days)]) : nil
    }

    /// Returns the second factor for which the browser of a request is remembered; nil if it is not.
    func factor(in request: IncomingRequest, of user: User, now: Date) -> ArtefactDigest? {
        guard days > 0, let value = request.cookie(cookies.rememberedName), value.utf8.count <= 1024,
            let sealed = Base64URL.decode(value),
            let bytes = try? keys.open(sealed).bytes,
            let content = try? JSONDecoder().decode(Content.self, from: Data(bytes)),
            content.user == user.id.rawValue, let hash = user.passwordHash, content.passwordMark == hash.mark,
            now.isWithin(TimeInterval(days * 86_400), after: content.since)
        else { return nil }
        return Base64URL.decode(content.factor).flatMap(ArtefactDigest.init(stored:))
    }

    /// Returns the cookie that remembers a browser; nil if no browser is remembered, or the encryption fails.
    func remember(_ user: User, with factor: ArtefactDigest, now: Date) -> String? {
        guard days > 0, let hash = user.passwordHash else { return nil }
        let content = Content(
            user: user.id.rawValue, passwordMark: hash.mark, factor: Base64URL.encode(factor.bytes),
            since: now.timeIntervalSince1970)
        guard let bytes = try? JSONEncoder().encode(content), let sealed = try? keys.seal(Array(bytes)) else {
            return nil
        }
        return cookies.remembered(Base64URL.encode(sealed), for: days * 86_400)
    }
}
