@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
import Crypto
import Foundation
import HTTPTypes

/// The one-time link for creating the first owner.
///
/// Its secret is a message authentication code of a number in the store, so the link of one server is valid at every
/// server with the same store and the same server key. Only the newest link is valid.
struct SetupLink: Sendable {
    var store: any SetupStore
    private let keys: DerivedKeys

    init(store: any SetupStore, serverKey: ServerKey) {
        self.store = store
        keys = serverKey.setupLinks
    }

    /// Returns the secret of a new link, which invalidates the former one; nil if there is an owner.
    ///
    /// - Parameter limit: The time after which the former link was made, if it stays valid and is returned instead.
    func renew(
        unlessMadeAfter limit: Date, random: RandomBytes, now: Date
    ) async throws(StoreFault) -> String? {
        try await store.renewSetupNonce(SetupNonce(random: random), unlessStoredAfter: limit, at: now)
            .map { Base64URL.encode(Self.code(for: $0, keys.current)) }
    }

    /// Returns true if a text is the secret of the newest link, and there is no owner.
    func matches(_ text: String) async throws(StoreFault) -> Bool {
        guard text.utf8.count <= 64, let code = Base64URL.decode(text), let nonce = try await store.setupNonce() else {
            return false
        }
        return keys.authenticate(code) { Self.code(for: nonce, $0) }
    }

    private static func code(for nonce: SetupNonce, _ key: SymmetricKey) -> [UInt8] {
        HMAC<SHA256>.authenticationCode(for: nonce.bytes, using: key).copiedBytes
    }
}

/// The endpoint `/setup`: the page to which the one-time link leads, and its form.
struct SetupEndpoint: Sendable {
    let settings: ServerSettings
    let store: any UserStore
    let hasher: PasswordHasher
    let link: SetupLink
    let auditor: Auditor
    let signInPath: String
    /// The path to which the first sign-in leads.
    let firstStepsPath: String

    var handlers: [EndpointHandler] { [EndpointHandler(.setup, respond)] }

    func respond(to request: IncomingRequest, now: Date) async throws -> Reply {
        switch request.head.method {
        case .post: try await make(request, now: now)
        default: try await show(request)
        }
    }

    private func show(_ request: IncomingRequest) async throws -> Reply {
        guard let token = try? FormParameters(parsing: request.query).single("token"), try await link.matches(token)
        else { throw try await problem() }
        return Reply(.ok, .page(page(token: token)))
    }

    private func make(_ request: IncomingRequest, now: Date) async throws -> Reply {
        let form = try PageForm(request, issuer: settings.issuer)
        let token = try form.value("token")
        guard try await link.matches(token) else { throw try await problem() }
        var page = page(token: token)
        page.username = try form.value("username")
        page.email = try form.value("email")
        let words = request.words
        func again(_ field: SetupPage.Field, _ problem: some Localized) -> Reply {
            page.problem = words(problem)
            page.wrongField = field
            return Reply(.badRequest, .page(page))
        }

        guard let username = Username(page.username) else {
            return again(.username, SetupError.badUsername)
        }
        let email = EmailAddress(page.email)
        guard email != nil || page.email.allSatisfy(\.isWhitespace) else { return again(.email, SetupError.badEmail) }
        let password: Password
        do {
            password = try Password(
                choosing: try form.value("password"), for: username, email: email, displayName: nil,
                host: settings.issuer.host)
        } catch let refusal as Password.Refusal {
            return again(.password, refusal)
        }

        let owner = User(
            username: username,
            email: email,
            displayName: username.rawValue,
            passwordHash: try await hasher.hash(password),
            role: .owner,
            createdAt: now
        )
        let event = auditor.event(
            .account, by: request, user: owner.id, detail: "created as the first owner", now: now
        ).named(.userCreated)
        switch try await store.addFirstOwner(owner, recording: [event]) {
        case .added:
            auditor.countRecorded(event)
            let done = SetupDonePage(
                username: username.rawValue,
                signInPath: signInPath + "?" + FormParameters(["to": firstStepsPath]).encoded)
            return Reply(.ok, .page(done))
        case .usernameTaken: return again(.username, SetupError.usernameTaken)
        case .emailTaken: return again(.email, SetupError.emailTaken)
        case .ownerExists: throw SetupProblem.alreadySetUp(signInPath: signInPath)
        }
    }

    /// The reason why a link does not work.
    private func problem() async throws(StoreFault) -> SetupProblem {
        try await store.hasOwner() ? .alreadySetUp(signInPath: signInPath) : .linkExpired
    }

    private func page(token: String) -> SetupPage {
        SetupPage(action: settings.issuer.path + Endpoint.setup.path, token: token)
    }
}

/// The error for a one-time link that does not work.
enum SetupProblem: Error {
    /// The link is wrong, or a newer one has replaced it.
    case linkExpired
    /// There is an owner, so no link works.
    case alreadySetUp(signInPath: String)
}

extension SetupProblem: Refusing {
    var refusal: Refusal {
        switch self {
        case .linkExpired: Refusal(.notFound, .invalidRequest, .linkExpired)
        case .alreadySetUp(let signInPath):
            Refusal(.notFound, .invalidRequest, .alreadySetUp, continueLink: .address(signInPath))
        }
    }
}

/// The errors in the form for the first owner.
private enum SetupError: String, LocalizationKey {
    case badUsername = "setup.bad-username"
    case badEmail = "setup.bad-email"
    case usernameTaken = "setup.username-taken"
    case emailTaken = "setup.email-taken"
}
