/// The reason why an outbound request to a host that a developer has chosen got no usable response.
///
/// The messages speak of the association file of an app, such as `assetlinks.json`, because they are shown only after
/// a check of such a file.
public enum OutboundFailure: String, Error, LocalizationKey {
    /// The URL is not an https URL with a host name and an allowed port.
    case unsuitableURL = "association.unsuitable-url"
    /// The host name does not exist.
    case unknownHost = "association.unknown-host"
    /// The host name resolves to an IP address that is neither public nor in a private network that the owner allows.
    ///
    /// A developer reads the text of ``unknownHost``: otherwise, every developer could look up the names of a private
    /// network.
    case notPublic = "association.not-public"
    /// No connection to the host could be established.
    case unreachable = "association.unreachable"
    /// The TLS certificate is not valid for the host.
    case untrusted = "association.untrusted"
    /// The name resolution or the request took longer than the time limit of the HTTP client.
    case timedOut = "association.timed-out"
    /// The response body is larger than the limit of the request.
    case tooLarge = "association.too-large"
    /// Too many outbound requests are already in progress.
    case busy = "association.busy"
}
