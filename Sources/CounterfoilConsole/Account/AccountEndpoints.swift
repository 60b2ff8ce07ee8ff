import CounterfoilProtocol
import CounterfoilServer
import Foundation
import HTTPTypes

/// The pages of a user's own account.
struct AccountEndpoints: Sendable {
    let console: Console
    let applications: ConnectedApplications
    let browsers: SignedInBrowsers
    let password: PasswordChange

    init(console: Console, hasher: PasswordHasher, people: SignIn) {
        self.console = console
        applications = ConnectedApplications(console: console)
        browsers = SignedInBrowsers(console: console)
        password = PasswordChange(console: console, hasher: hasher, people: people)
    }

    var handlers: [EndpointHandler] {
        [
            console.handler(.account, show: applications.list),
            console.handler(.connectedApplication, show: applications.show, change: applications.change),
            console.handler(.sessions, show: browsers.show, change: browsers.end),
            console.handler(.password, show: password.show, change: password.change),
            console.handler(.signOut, change: signOut),
        ]
    }

    @Sendable
    private func signOut(_ visit: Console.Visit) async throws -> Reply {
        _ = try console.form(visit)
        return try await console.signOut(visit)
    }
}

extension Console {
    /// Ends the session of this browser and redirects to the sign-in page.
    func signOut(_ visit: Visit) async throws -> Reply {
        let cookie = try await sessions.end(visit.session, now: visit.now)
        await note(.signOut, by: visit)
        return Reply.seeOther(path(.consoleSignIn)).setting(cookie)
    }

    /// Returns the paths of the account pages, with the current one marked.
    func accountPaths(at part: AccountPaths.Part) -> AccountPaths {
        AccountPaths(at: part, account: path(.account), sessions: path(.sessions), password: path(.password))
    }
}
