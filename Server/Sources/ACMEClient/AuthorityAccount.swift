import Logging

/// The account at the authority (RFC 8555 §7.3), which the first order creates.
struct AuthorityAccount {
    let settings: ACMESettings
    let client: AuthorityClient
    let key: AccountKey
    let logger: Logger

    /// Returns the URL of the account, which is created if the key has none, and gives it the contact of the settings.
    func url() async throws -> String {
        let directory = try await client.directory()
        let response: AuthorityResponse
        do {
            response = try await client.post(
                try AccountRequest.existing, to: directory.newAccount, account: nil, key: key, at: .account)
        } catch ACMEError.refused(_, let problem, _) where problem.type == "accountDoesNotExist" {
            return try await created(directory)
        }
        let url = try response.location(from: settings.directory, step: .account)
        try await updateContact(of: url, shown: response)
        return url
    }

    private func created(_ directory: AuthorityDirectory) async throws -> String {
        guard settings.externalAccount != nil || !directory.requiresExternalAccount else {
            throw ACMEError.externalAccountRequired
        }
        let binding = try settings.externalAccount?.binding(of: key, url: directory.newAccount)
        let response = try await client.post(
            try AccountRequest.creation(contact: settings.contact, binding: binding), to: directory.newAccount,
            account: nil, key: key, at: .account)
        logger.notice(
            "created an account at the authority",
            metadata: [
                "authority": "\(settings.directory)", "terms": "\(LogText.of(directory.termsOfService ?? "none"))",
            ])
        return try response.location(from: settings.directory, step: .account)
    }

    /// Replaces the contact of the account unless the authority shows that of the settings (RFC 8555 §7.3.2).
    ///
    /// An authority need not show contacts (RFC 8555 §7.1.2); it gets the contact with each order then. A failure does
    /// not end the order, because no order needs the contact.
    private func updateContact(of url: String, shown response: AuthorityResponse) async throws {
        let shown = AccountDocument(response.body).contacts
        guard shown != [AccountRequest.contact(settings.contact)] else { return }
        do {
            _ = try await client.post(
                try AccountRequest.update(contact: settings.contact), to: url, account: url, key: key, at: .account)
        } catch let failure as ACMEError {
            logger.warning(
                "failed to update the contact of the account at the authority; the order continues",
                metadata: ["error": "\(failure)", "authority": "\(settings.directory)"])
            return
        }
        logger.log(
            level: shown.isEmpty ? .debug : .notice, "updated the contact of the account at the authority",
            metadata: ["authority": "\(settings.directory)"])
    }
}
