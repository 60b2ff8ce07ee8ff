package import CounterfoilProtocol
package import CounterfoilServer
package import CounterfoilStore
package import Foundation

/// Each property returns a page on the way back into an account, or throws if the reply is another page or no page.
extension Reply {
    package var recoveryPage: RecoveryPage {
        get throws(UnexpectedReply) {
            guard let page = page as? RecoveryPage else {
                throw UnexpectedReply(needed: "the page for a forgotten password", reply: self)
            }
            return page
        }
    }

    package var newPasswordPage: NewPasswordPage {
        get throws(UnexpectedReply) {
            guard let page = page as? NewPasswordPage else {
                throw UnexpectedReply(needed: "the page for a new password", reply: self)
            }
            return page
        }
    }
}

extension ScriptedUserAgent {
    /// Presses "Forgot your password?" on a sign-in page.
    package mutating func forgetPassword(on reply: Reply) async throws -> Reply {
        let page = try reply.signInPage
        guard let recovery = page.recovery else {
            throw UnexpectedReply(needed: "a sign-in page with a way to recovery", reply: reply)
        }
        let form = FormParameters([
            "decision": RecoveryPage.Decision.begin.rawValue, "destination": recovery.destination,
        ])
        return try await submit(form, to: recovery.action)
    }

    /// Asks for a mail with a link.
    package mutating func askForLink(_ name: String, on reply: Reply) async throws -> Reply {
        let page = try reply.recoveryPage
        return try await submit(page.form(.mail, ["name": name]), to: page.action)
    }

    /// Sets a password with a recovery code.
    package mutating func recover(
        _ name: String, by code: String, to password: String, on reply: Reply
    ) async throws -> Reply {
        let page = try reply.recoveryPage
        return try await submit(
            page.form(.code, ["name": name, "code": code, "password": password]), to: page.action)
    }

    /// Sets a password on the page of a link, or on that of a sign-in.
    package mutating func setPassword(
        _ password: String, code: String? = nil, on reply: Reply
    ) async throws -> Reply {
        let page = try reply.newPasswordPage
        return try await submit(page.form(password, code: code), to: page.action)
    }
}

extension RecoveryPage {
    /// Returns the fields of one of the forms.
    package func form(_ decision: Decision, _ fields: [String: String]) -> FormParameters {
        var form = FormParameters(["request": request, "ticket": ticket, "decision": decision.rawValue])
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) { form.append(name, value) }
        return form
    }
}

extension NewPasswordPage {
    /// Returns the fields of the form.
    package func form(_ password: String, code: String? = nil) -> FormParameters {
        var form = FormParameters(["request": request, "ticket": ticket, "password": password])
        switch state {
        case .link(let token): form.append("token", token)
        case .pending(let pending): form.append("pending", pending)
        }
        form.append("code", ifPresent: code)
        return form
    }
}

extension TestServer {
    /// Creates the link of an operator, and returns its path and query.
    package func operatorLink(for user: User, lifetime: TimeInterval = 86_400) async throws -> String {
        let secret = MailLinkSecret()
        let link = UserLink(
            digest: ArtefactDigest(ofUserLink: secret), userID: user.id, origin: .operator,
            expires: clock.now.addingTimeInterval(lifetime))
        _ = try await store.addUserLink(link, sending: nil, recording: [])
        return "/recover?token=" + secret.exposed
    }
}
