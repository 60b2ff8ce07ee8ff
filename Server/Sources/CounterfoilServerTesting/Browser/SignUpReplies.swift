package import CounterfoilProtocol
package import CounterfoilServer
package import CounterfoilStore

/// Each property for a page throws if the reply has another page or no page.
extension Reply {
    package var signUpPage: SignUpPage {
        get throws(UnexpectedReply) { try page("the page that asks for an email address", as: SignUpPage.self) }
    }

    package var signUpSentPage: SignUpSentPage {
        get throws(UnexpectedReply) { try page("the page after a mail was sent", as: SignUpSentPage.self) }
    }

    package var newAccountPage: NewAccountPage {
        get throws(UnexpectedReply) { try page("the form of a new account", as: NewAccountPage.self) }
    }

    package var termsPage: TermsPage {
        get throws(UnexpectedReply) { try page("the page with the terms", as: TermsPage.self) }
    }

    package var passkeyOfferPage: PasskeyOfferPage {
        get throws(UnexpectedReply) { try page("the page that offers a passkey", as: PasskeyOfferPage.self) }
    }

    private func page<Wanted: Page>(_ needed: String, as type: Wanted.Type) throws(UnexpectedReply) -> Wanted {
        guard let page = self.page as? Wanted else { throw UnexpectedReply(needed: needed, reply: self) }
        return page
    }
}

extension SignUpPage {
    /// The fields of the form.
    package func form(_ email: String, decision: String = "send") -> FormParameters {
        FormParameters(["request": request, "ticket": ticket, "email": email, "decision": decision])
    }
}

extension NewAccountPage {
    /// The fields of the form; the box of the terms is ticked if the page has one.
    package func form(
        _ username: String, displayName: String = "", password: String = "a lamp, a river and a kite",
        acceptingTerms: Bool = true
    ) -> FormParameters {
        var form = FormParameters([
            "link": link, "secret": secret, "ticket": ticket, "username": username, "display_name": displayName,
            "password": password,
        ])
        if acceptingTerms { form.append("terms", ifPresent: terms?.version) }
        return form
    }
}

extension TermsPage {
    /// The fields of the form.
    package func form(_ decision: String) -> FormParameters {
        FormParameters([
            "door": question.door.rawValue, "request": question.request,
            "recent": question.isSignedInForThis ? "true" : "", "version": question.version, "ticket": ticket,
            "decision": decision,
        ])
    }
}

extension PasskeyOfferPage {
    /// The fields of the form.
    package func form(_ decision: Decision, passkey: String = "") -> FormParameters {
        FormParameters([
            "door": question.door.rawValue, "request": question.request,
            "recent": question.isSignedInForThis ? "true" : "", "ticket": ticket, "passkey": passkey,
            "decision": decision.rawValue,
        ])
    }
}

extension TestServer {
    /// Invites a person as an operator does, and returns the path and query of the link, which is not mailed.
    package func invite(_ draft: Invitations.Draft = Invitations.Draft()) async throws -> (
        invitation: Invitation, path: String
    ) {
        let (invitation, link) = try await invited(draft)
        guard let link else { throw Refused("the link was mailed") }
        return (invitation, String(link.dropFirst(issuer.origin.count)))
    }

    /// Invites a person as an operator does, and returns the link that the operator gets.
    package func invited(_ draft: Invitations.Draft) async throws -> (invitation: Invitation, link: String?) {
        let invitations = Invitations(issuer: issuer, store: store, serverKey: try TestSigningKeys.serverKey)
        let outcome = try await invitations.invite(draft, now: clock.now) { _, detail in
            AuditEvent(at: clock.now, .account, detail: detail)
        }
        guard case .invited(let invitation, let link) = outcome else { throw Refused("\(outcome)") }
        return (invitation, link)
    }
}
