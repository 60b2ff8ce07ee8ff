import CounterfoilPages
public import CounterfoilServer
import CounterfoilStore
import HTTPTypes

extension Endpoint {
    /// The sign-in page, to which the console redirects a user without a session or without a recent sign-in.
    package static let consoleSignIn = form("consoleSignIn", "/sign-in", bodyLimit: 16 * 1024)

    // Pages of the account.

    /// The apps that a user has allowed.
    package static let account = page("account", "/account").signedIn
    /// The permissions of one app, and the form that withdraws them.
    package static let connectedClient = form("connectedApp", "/account/apps/{client_id}").signedIn
    /// The sessions of a user, one for each browser.
    package static let sessions = form("sessions", "/account/sessions").signedIn
    /// The passkeys of a user, and the forms that add, rename and delete one.
    package static let passkeys = form("passkeys", "/account/passkeys").signedIn.recent
    /// The second factor of a user, and the forms that set it up and change it.
    package static let secondFactor = form("secondFactor", "/account/second-factor").signedIn.recent
    /// The form that changes the password.
    package static let password = form("password", "/account/password").signedIn
    /// The email address, and the forms that verify and change it.
    package static let email = form("email", "/account/email").signedIn.recent
    /// The sign-ins and the changes of the account.
    package static let activity = page("activity", "/account/activity").signedIn
    /// The sign-out, which ends the session of this browser.
    package static let signOut = posting("signOut", "/account/sign-out").signedIn

    // Pages of the clients of a developer.

    /// The list of the clients that the signed-in developer has registered.
    package static let clients = page("applications", "/apps").signedIn
    /// The form that registers a client.
    package static let newClient = form("newApp", "/apps/new").signedIn.recent
    /// The APIs that clients can use, with their scopes.
    package static let availableAPIs = page("availableAPIs", "/apps/apis").signedIn
    /// The overview of one client.
    package static let client = page("application", "/apps/{client_id}").signedIn
    /// The form that changes the registration of a client.
    package static let editClient = form("editApp", "/apps/{client_id}/edit").signedIn.recent
    /// The form that replaces or removes the logo of a client.
    package static let clientLogo = form("applicationLogo", "/apps/{client_id}/logo", bodyLimit: 640 * 1024)
        .signedIn.recent
    /// The form in which administrators set the policy of a client.
    package static let clientPolicy = form("applicationPolicy", "/apps/{client_id}/policy")
        .administration(.writeClients).recent
    /// The forms in which administrators approve, suspend and resume a client.
    package static let clientDecision = form("applicationDecision", "/apps/{client_id}/approval")
        .administration(.readClients, changing: .writeClients).recent
    /// The values that connect a client to this server.
    package static let connectClient = page("connectApp", "/apps/{client_id}/connect").signedIn
    /// The secrets of a confidential client, which can be added and deleted.
    package static let clientSecrets = form("applicationSecrets", "/apps/{client_id}/secrets").signedIn.recent
    /// The check that the association files on the hosts of claimed https redirect URIs name the apps of the client.
    package static let clientAssociation = form("applicationAssociation", "/apps/{client_id}/association").signedIn
    /// The users who manage a client, and the forms that change them.
    package static let clientDevelopers = form("applicationDevelopers", "/apps/{client_id}/developers")
        .signedIn.recent
    /// The answers of a user who is asked to manage a client.
    package static let clientInvitations = posting("applicationInvitations", "/apps/invitations").signedIn
    /// The page that asks for confirmation and then deletes a client.
    package static let deleteClient = form("deleteApp", "/apps/{client_id}/delete").signedIn.recent
    /// The verdicts on redirect URIs (accepted, warned or refused), which a script requests while a developer types.
    package static let verdicts = posting("verdicts", "/apps/verdict", bodyLimit: 128 * 1024, answersUsers: false)
        .signedIn

    // Pages of the administration.

    /// The first page of the administration.
    package static let overview = page("overview", "/admin").administration()
    /// The scopes with what uses them.
    package static let scopes = page("scopes", "/admin/scopes").administration(.readAPIs, changing: .writeAPIs)
    /// The form that creates a scope.
    package static let newScope = form("newScope", "/admin/scopes/new").administration(.writeAPIs).recent
    /// The form that changes the scope in the parameter `scope`.
    package static let editScope = form("editScope", "/admin/scopes/edit").administration(.writeAPIs).recent
    /// The page that asks for confirmation and then deletes a scope.
    package static let deleteScope = form("deleteScope", "/admin/scopes/delete").administration(.writeAPIs).recent
    /// The registered APIs.
    package static let apis = page("apis", "/admin/apis").administration(.readAPIs, changing: .writeAPIs)
    /// The form that registers an API.
    package static let newAPI = form("newAPI", "/admin/apis/new").administration(.writeAPIs).recent
    /// How the API in the parameter `api` checks tokens, and the form that replaces its secret.
    package static let api = form("api", "/admin/apis/api").administration(.readAPIs, changing: .writeAPIs).recent
    /// The form that changes an API.
    package static let editAPI = form("editAPI", "/admin/apis/edit").administration(.writeAPIs).recent
    /// The page that asks for confirmation and then deletes an API.
    package static let deleteAPI = form("deleteAPI", "/admin/apis/delete").administration(.writeAPIs).recent
    /// The webhooks.
    package static let webhooks = page("webhooks", "/admin/webhooks").administration(
        .readEvents, changing: .writeEvents)
    /// The form that creates a webhook.
    package static let newWebhook = form("newWebhook", "/admin/webhooks/new").administration(.writeEvents).recent
    /// The webhook in the parameter `webhook` with its deliveries, and the forms that change its state.
    package static let webhook = form("webhook", "/admin/webhooks/webhook").administration(
        .readEvents, changing: .writeEvents
    ).recent
    /// The form that changes a webhook.
    package static let editWebhook = form("editWebhook", "/admin/webhooks/edit").administration(.writeEvents).recent
    /// The page that asks for confirmation and then deletes a webhook.
    package static let deleteWebhook = form("deleteWebhook", "/admin/webhooks/delete").administration(.writeEvents)
        .recent
    /// The list of all clients, for administrators.
    package static let administration = page("administration", "/admin/apps").administration(
        .readClients, changing: .writeClients)
    /// The search for users.
    package static let users = page("users", "/admin/users").administration(.readUsers, changing: .writeUsers)
    /// The invitations that are not used, and the forms that create and withdraw one.
    package static let invitations = form("invitations", "/admin/users/invitations").administration(.writeUsers).recent
    /// The form that adds a user.
    package static let newUser = form("newUser", "/admin/users/new").administration(.writeUsers).recent
    /// The account of one user, and the forms that change it.
    package static let user = form("user", "/admin/users/{user_id}").administration(.readUsers, changing: .writeUsers)
        .recent
    /// The groups and attributes of a user with the form that changes them, and a preview of the claims of an app.
    package static let userClaims = form("userClaims", "/admin/users/{user_id}/claims").administration(
        .readUsers, changing: .writeUsers
    ).recent
    /// The page that asks for confirmation and then deletes a user.
    package static let deleteUser = form("deleteUser", "/admin/users/{user_id}/delete").administration(.writeUsers)
        .recent
    /// The form that changes the branding.
    package static let branding = form("branding", "/admin/branding", bodyLimit: 640 * 1024).administration(
        .writeServer
    ).recent
    /// The hosts and registrations of the clients that no person registered.
    package static let unregisteredClients = page("unregisteredClients", "/admin/unregistered").administration(
        .readClients, changing: .writeClients)
    /// The form that changes the policy for unregistered clients.
    package static let unregisteredPolicy = form("unregisteredPolicy", "/admin/unregistered/policy")
        .administration(.writeClients).recent
    /// The unregistered clients of a host, or those that registered themselves, and the form that deletes them.
    package static let unregisteredFamily = form("unregisteredFamily", "/admin/unregistered/clients")
        .administration(.readClients, changing: .writeClients).recent
    /// One unregistered client, and the forms that delete or adopt it.
    package static let unregisteredClient = form("unregisteredClient", "/admin/unregistered/clients/{client_id}")
        .administration(.readClients, changing: .writeClients).recent
    /// The mails that the server sends, for administrators.
    package static let mailPreview = page("mailPreview", "/admin/mail").administration(
        .readServer, changing: .writeServer)
    /// The form that sends a test mail.
    package static let testMail = form("testMail", "/admin/mail/test").administration(.writeServer).recent
    /// The state of the server, and the form that starts the checks that take long.
    package static let server = form("server", "/admin/server").administration(.readServer)
    /// The certificate of the server, and the form that requests a new one.
    package static let certificate = form("certificate", "/admin/server/certificate").administration(
        .readServer, changing: .writeServer
    ).recent
    /// The settings in use.
    package static let serverSettings = page("serverSettings", "/admin/settings").administration(.readServer)
    /// The signing keys.
    package static let keys = page("keys", "/admin/keys").administration(.readServer, changing: .writeServer)
    /// The form that rotates the key of the algorithm in the parameter `algorithm`.
    package static let rotateKey = form("rotateKey", "/admin/keys/rotate").administration(.writeServer).recent
    /// The page that asks for confirmation and then deletes the key in the parameter `key`.
    package static let withdrawKey = form("withdrawKey", "/admin/keys/withdraw").administration(.writeServer).recent
    /// The tokens for registrations, and the forms that add and remove one.
    package static let registrationTokens = form("registrationTokens", "/admin/registration-tokens")
        .administration(.readClients, changing: .writeClients).recent
    /// The audit log, and the form that exports events of it.
    package static let audit = form("audit", "/admin/audit").administration(.readAudit)

    private var signedIn: Endpoint { with { $0.audience = .signedIn } }
    /// Returns the endpoint for users of the administration: with one right to see it, and one to change something.
    ///
    /// An endpoint that shows nothing but a form has one right for both. Without a right, each suffices.
    private func administration(_ reading: AdministrationRight? = nil, changing: AdministrationRight? = nil) -> Endpoint
    {
        with { $0.audience = .administration(reading: reading, changing: changing ?? reading) }
    }
    private var recent: Endpoint { with { $0.needsRecentSignIn = true } }
}

extension ServerPages {
    /// The console: pages for the users' own accounts, for the clients of developers, and for administrators.
    public static let console = ServerPages(
        linked: LinkedPages(
            home: .account, signIn: .consoleSignIn, passwordChange: .password, passkeys: .passkeys,
            firstSteps: .overview,
            clientSettings: .editClient),
        endpoints: [
            .consoleSignIn, .account, .connectedClient, .sessions, .passkeys, .secondFactor, .password, .email,
            .activity, .signOut,
            .clients, .newClient, .client, .editClient, .clientLogo, .clientPolicy, .clientDecision, .connectClient,
            .clientSecrets, .clientAssociation, .clientDevelopers, .clientInvitations, .deleteClient, .verdicts,
            .overview, .administration, .users, .invitations, .newUser, .user, .userClaims, .deleteUser, .branding,
            .mailPreview, .audit, .unregisteredClients,
            .unregisteredPolicy, .unregisteredFamily,
            .unregisteredClient, .scopes, .newScope, .editScope, .deleteScope, .apis, .newAPI, .api, .editAPI,
            .deleteAPI, .availableAPIs, .testMail, .server, .certificate, .serverSettings, .keys, .rotateKey,
            .withdrawKey, .registrationTokens,
            .webhooks, .newWebhook, .webhook, .editWebhook, .deleteWebhook,
        ],
        templates: consoleTemplates,
        formats: .standard,
        parts: [
            { components in
                ConsoleSignInEndpoint(
                    console: Console(components),
                    form: components.signInForm(at: .consoleSignIn, purpose: .consoleSignIn)
                ).handlers
            },
            { components in
                AccountEndpoints(
                    console: Console(components), hasher: components.hasher, users: components.users,
                    secondFactors: components.secondFactors
                ).handlers
            },
            { components in
                ClientEndpoints(
                    console: Console(components), encoder: components.logoEncoder,
                    associations: components.associations.map {
                        AssociationCheck(fetcher: $0, for: components.request)
                    },
                    associationChecks: components.associationChecks, challenges: components.challenges
                ).handlers
            },
            { components in
                AdministrationEndpoints(console: Console(components), encoder: components.logoEncoder).handlers
            },
        ])
}

extension Console {
    /// Creates the handler of an endpoint for signed-in users, which calls `show` for GET and `change` for POST.
    ///
    /// A user who is not signed in, or not recently enough, is redirected to the sign-in page. At an endpoint of the
    /// administration, a user without the right to see it gets status 404. A user with other rights gets status 403 for
    /// a form. The role counts as the store has it at the request.
    func handler(
        _ endpoint: Endpoint,
        show: @escaping @Sendable (Exchange) async throws -> Reply = { _ in throw NotFoundError() },
        change: @escaping @Sendable (Exchange) async throws -> Reply = { _ in throw NotFoundError() }
    ) -> EndpointHandler {
        EndpointHandler(endpoint) { request, now in
            do {
                let exchange = try await exchange(request, at: endpoint, now: now)
                let isChange = request.head.method == .post
                switch endpoint.audience.admission(of: exchange.user, changing: isChange) {
                case .admitted: break
                case .hidden: throw NotFoundError()
                case .refused(let right): throw RoleRefusal.lacksRight(right)
                }
                return isChange ? try await change(exchange) : try await show(exchange)
            } catch let needed as SignInNeeded {
                return .seeOther(needed.url(issuer: settings.issuer))
            } catch let needed as TermsNeeded {
                return .seeOther(needed.url(issuer: settings.issuer))
            }
        }
    }
}
