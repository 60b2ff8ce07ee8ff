import CounterfoilProtocol
import Foundation
import HTTPTypes

/// The pages on which a person looks after their account.
struct AccountEndpoints: Sendable {
    let console: Console
    let applications: ConnectedApplications
    let browsers: SignedInBrowsers
    let password: PasswordChange

    init(console: Console, hasher: PasswordHasher, throttle: SignInThrottle) {
        self.console = console
        applications = ConnectedApplications(console: console)
        browsers = SignedInBrowsers(console: console)
        password = PasswordChange(
            console: console, hasher: hasher,
            people: SignIn(store: console.store, hasher: hasher, throttle: throttle)
        )
    }

    func respond(to request: IncomingRequest, at endpoint: Endpoint, now: Date) async throws -> Reply {
        let visit = try await console.visit(request, at: endpoint, now: now)
        let isPost = request.head.method == .post
        switch endpoint {
        case .account: return try await applications.list(visit)
        case .connectedApplication:
            return isPost ? try await applications.change(visit) : try await applications.show(visit)
        case .sessions: return isPost ? try await browsers.end(visit) : try await browsers.show(visit)
        case .password: return isPost ? try await password.change(visit) : password.show(visit)
        case .signOut: return try await signOut(visit)
        default: throw Console.NothingHere()
        }
    }

    private func signOut(_ visit: Console.Visit) async throws -> Reply {
        _ = try console.form(visit)
        return try await console.signOut(visit)
    }
}

extension Console {
    /// Ends the session of the browser that looks, and leads to the sign-in page.
    func signOut(_ visit: Visit) async throws -> Reply {
        let cookie = try await sessions.end(visit.session, now: visit.now)
        await note(.signOut, by: visit)
        return Reply.seeOther(path(.consoleSignIn)).setting(cookie)
    }

    /// The pages of the account, seen from one of them.
    func accountPaths(at part: AccountPaths.Part) -> AccountPaths {
        AccountPaths(at: part, account: path(.account), sessions: path(.sessions), password: path(.password))
    }
}
