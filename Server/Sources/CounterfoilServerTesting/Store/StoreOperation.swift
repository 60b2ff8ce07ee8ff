/// The name of an operation of a store: the name of its method, without the parameters.
///
/// Methods that differ only in their parameters have the same name.
public struct StoreOperation: Sendable, Hashable, CustomStringConvertible {
    /// The name of the method, such as `recordConsent`.
    public let name: String

    /// Creates the name of any operation.
    public init(_ name: String) { self.name = name }

    /// Creates the name of an operation from its `#function`.
    init(_ function: StaticString) { name = String(function.description.prefix { $0 != "(" }) }

    /// The name of the method.
    public var description: String { name }
}

extension StoreOperation {
    /// Reading the revision of the registry.
    public static let registryRevision = Self("registryRevision")
    /// Reading one client, several ones, or those in the association files.
    public static let client = Self("client"), clients = Self("clients"), associatedClients = Self("associatedClients")
    /// Reading the secrets of a client.
    public static let clientSecrets = Self("clientSecrets")
    /// Reading the longest idle lifetime of refresh tokens.
    public static let longestRefreshIdleLifetime = Self("longestRefreshIdleLifetime")
    /// Changing a client.
    public static let updateClient = Self("updateClient")
    /// Approving, suspending or resuming a client.
    public static let decide = Self("decide")
    /// Reading the definitions of all scopes, or the branding.
    public static let scopes = Self("scopes"), branding = Self("branding")
    /// Reading one API, or all of them.
    public static let resource = Self("resource"), resources = Self("resources")
    /// Reading the policy for unregistered clients.
    public static let unregisteredClientPolicy = Self("unregisteredClientPolicy")
    /// Reading whether any client has registered an origin for CORS.
    public static let isRegistered = Self("isRegistered")
    /// Reading the signing keys, and adding one in place of another.
    public static let signingKeys = Self("signingKeys"), addSigningKey = Self("addSigningKey")

    /// Adding the numbers of events of a server.
    public static let addActivity = Self("addActivity")

    /// Reading a user.
    public static let user = Self("user")
    /// Changing a password, or the parameters of its hash.
    public static let changePassword = Self("changePassword"), replacePasswordHash = Self("replacePasswordHash")
    /// Reading and starting a session.
    public static let session = Self("session"), beginSession = Self("beginSession")
    /// Recording that a session is in use, and ending it.
    public static let touchSession = Self("touchSession"), endSession = Self("endSession")
    /// Counting an attempt, and changing what counts for one that did not fail.
    public static let admitAttempt = Self("admitAttempt"), settleAttempt = Self("settleAttempt")
    /// Reading whether a user has signed in from a network.
    public static let earlierNetworkNoted = Self("earlierNetworkNoted")
    /// Noting a network from which a user has signed in.
    public static let noteEarlierNetwork = Self("noteEarlierNetwork")

    /// Reading a consent, and recording an approval with its authorization code.
    public static let consent = Self("consent"), recordConsent = Self("recordConsent")
    /// Withdrawing a consent in part.
    public static let narrowConsent = Self("narrowConsent")
    /// Storing and opening a pushed authorization request.
    public static let addPushedRequest = Self("addPushedRequest"), openPushedRequest = Self("openPushedRequest")
    /// Removing a pushed authorization request.
    public static let removePushedRequest = Self("removePushedRequest")
    /// Noting a request to the administration API, and keeping its answer.
    public static let beginAnswer = Self("beginAnswer"), keepAnswer = Self("keepAnswer")
    /// Storing a device authorization.
    public static let addDeviceAuthorization = Self("addDeviceAuthorization")
    /// Reading an authorization code, and marking it as redeemed.
    public static let code = Self("code"), consumeCode = Self("consumeCode")
    /// Recording whether the answer to a redemption was sent.
    public static let settleRedemptions = Self("settleRedemptions")
    /// Counting a redemption with a wrong code verifier.
    public static let countFailedRedemption = Self("countFailedRedemption")
    /// Reading and recording a refresh.
    public static let refreshFacts = Self("refreshFacts"), recordRefresh = Self("recordRefresh")
    /// Reading a grant with its user, and revoking a grant.
    public static let grantFacts = Self("grantFacts"), revokeGrant = Self("revokeGrant")
    /// Recording the use of a client assertion, and of a DPoP proof.
    public static let noteAssertion = Self("noteAssertion"), noteProof = Self("noteProof")

    /// Appending an event to the audit log.
    public static let appendAudit = Self("appendAudit")
    /// Recording a heartbeat, and taking up space.
    public static let recordService = Self("recordService"), takeUpSpace = Self("takeUpSpace")
    /// Reading and storing the certificate that an authority has issued.
    public static let issuedCertificate = Self("issuedCertificate"), storeCertificate = Self("storeCertificate")
    /// Reading the failed certificate orders, and taking the lease for an order.
    public static let failedOrders = Self("failedOrders"), takeOrderLease = Self("takeOrderLease")
}
