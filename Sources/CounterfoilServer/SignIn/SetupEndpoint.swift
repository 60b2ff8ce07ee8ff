import CounterfoilProtocol
import Foundation
import HTTPTypes

/// The secret of the one-time link for creating the first administrator.
///
/// The secret is kept in memory only. Each start of a server without an administrator creates a new link, and
/// only the newest link is valid.
final class SetupLink: Sendable {
    private let token = Mutex<String?>(nil)

    /// Creates and returns a new secret, and invalidates the link with the previous one.
    func renew(random: RandomBytes) -> String {
        let text = Base64URL.encode(random.bytes(32))
        token.withLock { $0 = text }
        return text
    }

    func matches(_ text: String) -> Bool {
        token.withLock { token in token.map { ConstantTime.equals($0, text) } ?? false }
    }

    func close() { token.withLock { $0 = nil } }
}

/// The endpoint `/setup`: the page to which the one-time link leads, and its form.
struct SetupEndpoint: Sendable {
    let settings: ServerSettings
    let store: any PeopleStore
    let hasher: PasswordHasher
    let link: SetupLink
    let auditor: Auditor
    let signInPath: String

    var handlers: [EndpointHandler] { [EndpointHandler(.setup, respond)] }

    func respond(to request: IncomingRequest, now: Date) async throws -> Reply {
        switch request.head.method {
        case .post: try await make(request, now: now)
        default: try show(request)
        }
    }

    private func show(_ request: IncomingRequest) throws -> Reply {
        guard let token = try? FormParameters(parsing: request.query).single("token"), link.matches(token) else {
            throw SetupProblem.linkExpired
        }
        return Reply(.ok, .page(page(token: token)))
    }

    private func make(_ request: IncomingRequest, now: Date) async throws -> Reply {
        let form = try PageForm(request, issuer: settings.issuer)
        let token = try form.value("token")
        guard link.matches(token) else { throw SetupProblem.linkExpired }
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
        let email = page.email.isEmpty ? nil : EmailAddress(page.email)
        guard page.email.isEmpty || email != nil else { return again(.email, SetupError.badEmail) }
        let password: Password
        do {
            password = try Password(choosing: try form.value("password"), for: username)
        } catch let refusal as Password.Refusal {
            return again(.password, refusal)
        }

        let administrator = Person(
            username: username,
            email: email,
            displayName: username.rawValue,
            passwordHash: try await hasher.hash(password),
            isAdministrator: true,
            createdAt: now
        )
        let event = auditor.event(
            .account, by: request, person: administrator.id, detail: "created as the first administrator", now: now)
        switch try await store.addFirstAdministrator(administrator, recording: [event]) {
        case .added:
            link.close()
            auditor.countRecorded(event)
            let done = SetupDonePage(
                username: username.rawValue, signInPath: signInPath)
            return Reply(.ok, .page(done))
        case .usernameTaken: return again(.username, SetupError.usernameTaken)
        case .emailTaken: return again(.email, SetupError.emailTaken)
        case .administratorExists:
            link.close()
            throw SetupProblem.linkExpired
        }
    }

    private func page(token: String) -> SetupPage {
        SetupPage(action: settings.issuer.path + Endpoint.setup.path, token: token)
    }
}

/// The error for a one-time link that is wrong, outdated or already used.
enum SetupProblem: Error {
    case linkExpired
}

/// The errors in the form for the first administrator.
private enum SetupError: String, LocalizationKey {
    case badUsername = "setup.bad-username"
    case badEmail = "setup.bad-email"
    case usernameTaken = "setup.username-taken"
    case emailTaken = "setup.email-taken"
}
