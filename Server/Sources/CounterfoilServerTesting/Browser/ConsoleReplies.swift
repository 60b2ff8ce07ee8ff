package import CounterfoilConsole
package import CounterfoilServer

/// Each property returns a page of the console, or throws if the reply is another page or no page.
extension Reply {
    /// Casts the page of the reply to `type`; if it is another page, `needed` names the expected one in the error.
    private func page<Wanted: Page>(_ needed: String, as type: Wanted.Type) throws(UnexpectedReply) -> Wanted {
        guard let page = page as? Wanted else { throw UnexpectedReply(needed: needed, reply: self) }
        return page
    }

    package var clientsPage: ClientsPage {
        get throws(UnexpectedReply) { try page("the list of clients", as: ClientsPage.self) }
    }

    package var clientFormPage: ClientFormPage {
        get throws(UnexpectedReply) { try page("the form of a client", as: ClientFormPage.self) }
    }

    package var clientPage: ClientPage {
        get throws(UnexpectedReply) { try page("the page of a client", as: ClientPage.self) }
    }

    package var secretsPage: SecretsPage {
        get throws(UnexpectedReply) { try page("the secrets of a client", as: SecretsPage.self) }
    }

    package var passkeysPage: PasskeysPage {
        get throws(UnexpectedReply) { try page("the passkeys of a user", as: PasskeysPage.self) }
    }

    package var secondFactorPage: SecondFactorPage {
        get throws(UnexpectedReply) { try page("the second factor of a user", as: SecondFactorPage.self) }
    }

    package var codePage: CodePage {
        get throws(UnexpectedReply) { try page("the page that asks for a code", as: CodePage.self) }
    }

    package var codeSetupPage: CodeSetupPage {
        get throws(UnexpectedReply) { try page("the setup of the second factor", as: CodeSetupPage.self) }
    }

    package var recoveryCodesPage: RecoveryCodesPage {
        get throws(UnexpectedReply) { try page("the recovery codes", as: RecoveryCodesPage.self) }
    }

    package var policyPage: PolicyPage {
        get throws(UnexpectedReply) { try page("the policy of a client", as: PolicyPage.self) }
    }

    package var decisionPage: ClientDecisionPage {
        get throws(UnexpectedReply) { try page("the approval of a client", as: ClientDecisionPage.self) }
    }

    package var logoPage: LogoPage {
        get throws(UnexpectedReply) { try page("the logo of a client", as: LogoPage.self) }
    }

    package var associationPage: AssociationPage {
        get throws(UnexpectedReply) { try page("the check of claimed redirect URIs", as: AssociationPage.self) }
    }

    package var connectPage: ConnectPage {
        get throws(UnexpectedReply) { try page("the page that says how to connect a client", as: ConnectPage.self) }
    }

    package var overviewPage: OverviewPage {
        get throws(UnexpectedReply) { try page("the first page of the administration", as: OverviewPage.self) }
    }

    package var administrationPage: AdministrationPage {
        get throws(UnexpectedReply) { try page("the list of all clients", as: AdministrationPage.self) }
    }

    package var usersPage: UsersPage {
        get throws(UnexpectedReply) { try page("the search for users", as: UsersPage.self) }
    }

    package var invitationsPage: InvitationsPage {
        get throws(UnexpectedReply) { try page("the invitations", as: InvitationsPage.self) }
    }

    package var developersPage: ClientDevelopersPage {
        get throws(UnexpectedReply) { try page("the developers of a client", as: ClientDevelopersPage.self) }
    }

    package var newUserPage: NewUserPage {
        get throws(UnexpectedReply) { try page("the form for a user", as: NewUserPage.self) }
    }

    package var userAccountPage: UserAccountPage {
        get throws(UnexpectedReply) { try page("the account of a user", as: UserAccountPage.self) }
    }

    package var userAttributesPage: UserAttributesPage {
        get throws(UnexpectedReply) { try page("the groups and attributes of a user", as: UserAttributesPage.self) }
    }

    package var deleteUserPage: DeleteUserPage {
        get throws(UnexpectedReply) { try page("the deletion of a user", as: DeleteUserPage.self) }
    }

    package var auditPage: AuditPage {
        get throws(UnexpectedReply) { try page("the audit log", as: AuditPage.self) }
    }

    package var brandingPage: BrandingPage {
        get throws(UnexpectedReply) { try page("the branding", as: BrandingPage.self) }
    }

    package var unregisteredClientsPage: UnregisteredClientsPage {
        get throws(UnexpectedReply) { try page("the unregistered clients", as: UnregisteredClientsPage.self) }
    }

    package var unregisteredPolicyPage: UnregisteredPolicyPage {
        get throws(UnexpectedReply) { try page("the policy for them", as: UnregisteredPolicyPage.self) }
    }

    package var unregisteredFamilyPage: UnregisteredFamilyPage {
        get throws(UnexpectedReply) { try page("the clients of a host", as: UnregisteredFamilyPage.self) }
    }

    package var unregisteredClientPage: UnregisteredClientPage {
        get throws(UnexpectedReply) { try page("an unregistered client", as: UnregisteredClientPage.self) }
    }

    package var scopesPage: ScopesPage {
        get throws(UnexpectedReply) { try page("the scopes", as: ScopesPage.self) }
    }

    package var scopeFormPage: ScopeFormPage {
        get throws(UnexpectedReply) { try page("the form of a scope", as: ScopeFormPage.self) }
    }

    package var apisPage: APIsPage {
        get throws(UnexpectedReply) { try page("the APIs", as: APIsPage.self) }
    }

    package var apiPage: APIPage {
        get throws(UnexpectedReply) { try page("an API", as: APIPage.self) }
    }

    package var apiFormPage: APIFormPage {
        get throws(UnexpectedReply) { try page("the form of an API", as: APIFormPage.self) }
    }

    package var webhooksPage: WebhooksPage {
        get throws(UnexpectedReply) { try page("the webhooks", as: WebhooksPage.self) }
    }

    package var webhookPage: WebhookPage {
        get throws(UnexpectedReply) { try page("a webhook", as: WebhookPage.self) }
    }

    package var webhookFormPage: WebhookFormPage {
        get throws(UnexpectedReply) { try page("the form of a webhook", as: WebhookFormPage.self) }
    }

    package var deleteRecordPage: DeleteRecordPage {
        get throws(UnexpectedReply) { try page("the deletion of a scope or an API", as: DeleteRecordPage.self) }
    }

    package var availableAPIsPage: AvailableAPIsPage {
        get throws(UnexpectedReply) { try page("the APIs for developers", as: AvailableAPIsPage.self) }
    }

    package var serverPage: ServerPage {
        get throws(UnexpectedReply) { try page("the state of the server", as: ServerPage.self) }
    }

    package var certificatePage: CertificatePage {
        get throws(UnexpectedReply) { try page("the certificate", as: CertificatePage.self) }
    }

    package var settingsPage: SettingsPage {
        get throws(UnexpectedReply) { try page("the settings in use", as: SettingsPage.self) }
    }

    package var keysPage: KeysPage {
        get throws(UnexpectedReply) { try page("the signing keys", as: KeysPage.self) }
    }

    package var changeKeyPage: ChangeKeyPage {
        get throws(UnexpectedReply) { try page("the form of a signing key", as: ChangeKeyPage.self) }
    }

    package var registrationTokensPage: RegistrationTokensPage {
        get throws(UnexpectedReply) { try page("the registration tokens", as: RegistrationTokensPage.self) }
    }

    package var testMailPage: TestMailPage {
        get throws(UnexpectedReply) { try page("the form of a test mail", as: TestMailPage.self) }
    }
}
