import CounterfoilConsole
package import CounterfoilProtocol
package import CounterfoilServer
package import Foundation

/// An authenticator app (RFC 6238) that a user has set up.
package struct TestAuthenticator: Sendable {
    package let secret: AuthenticatorSecret

    package init(_ secret: AuthenticatorSecret) { self.secret = secret }

    /// Types the key of a page into the app.
    package init(_ offer: AuthenticatorOffer) throws(UnreadableKey) {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
        var (bytes, bits, count): ([UInt8], UInt32, Int) = ([], 0, 0)
        for letter in offer.secret where letter != " " {
            guard let value = alphabet.firstIndex(of: letter) else { throw UnreadableKey() }
            bits = (bits << 5 | UInt32(value)) & 0xFFF
            count += 5
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        guard let secret = AuthenticatorSecret(bytes: bytes) else { throw UnreadableKey() }
        self.secret = secret
    }

    /// The error if the key of a page is not one.
    package struct UnreadableKey: Error {}

    /// Returns the code that the app shows at a time.
    package func code(at time: Date) -> String { secret.code(at: AuthenticatorSecret.step(at: time)) }

    /// Returns a code that the app shows at no time near this one.
    package func wrongCode(at time: Date) -> String {
        let near = (-3...3).map { secret.code(at: AuthenticatorSecret.step(at: time) + $0) }
        return ["000000", "111111", "222222", "333333", "444444", "555555", "666666", "777777"]
            .first { !near.contains($0) } ?? "888888"
    }
}

extension TestServer {
    /// Returns the code that an authenticator app shows now.
    package func code(of app: TestAuthenticator) -> String { app.code(at: clock.wall) }

    /// Sets up the second factor of a user who is signed in, and lets its first time step pass.
    ///
    /// - Returns: The app and the recovery codes.
    @discardableResult
    package func setUpSecondFactor(
        in browser: inout ScriptedUserAgent
    ) async throws -> (app: TestAuthenticator, recoveryCodes: [String]) {
        let page = try await browser.open("/account/second-factor").secondFactorPage
        guard let offer = page.offer else { throw TestAuthenticator.UnreadableKey() }
        let app = try TestAuthenticator(offer)
        let form = FormParameters([
            "ticket": page.ticket, "decision": "set-up", "setup": offer.setup, "code": code(of: app),
        ])
        let codes = try await browser.submit(form, to: page.action).secondFactorPage.codes
        clock.advance(by: 30)
        return (app, codes)
    }
}

extension ScriptedUserAgent {
    /// Enters a code on the page of a sign-in that asks for one.
    package mutating func enter(
        _ code: String, on reply: Reply, remembering isRemembered: Bool = false
    ) async throws -> Reply {
        let page = try reply.codePage
        return try await submit(page.form(code, remembering: isRemembered), to: page.action)
    }
}

extension CodePage {
    /// Returns the form fields that the browser sends with a code.
    package func form(_ code: String, remembering isRemembered: Bool = false) -> FormParameters {
        var form = FormParameters(["request": request, "ticket": ticket, "pending": pending, "code": code])
        if isRemembered { form.append("remember", "true") }
        if isConfirming { form.append("step_up", "true") }
        return form
    }
}
