/// The reason why an outbound request to a host that a developer has named got no usable response.
///
/// The messages are about association files, whose developers see them.
public enum OutboundFailure: String, Error, LocalizationKey {
    /// The URL is not an https URL with a host name and an allowed port.
    case unsuitableURL = "association.unsuitable-url"
    /// The host name does not exist.
    case unknownHost = "association.unknown-host"
    /// The name has an IP address that is neither public nor in a network that the owner has allowed.
    case notPublic = "association.not-public"
    /// No connection could be established.
    case unreachable = "association.unreachable"
    /// The certificate is not valid for the host.
    case untrusted = "association.untrusted"
    /// The request timed out.
    case timedOut = "association.timed-out"
    /// The body is larger than the limit of the request.
    case tooLarge = "association.too-large"
    /// Too many such requests are in flight.
    case busy = "association.busy"

    /// The limit of the size.
    package var values: [String: LocalizedText.Value] {
        self == .tooLarge ? ["limit": .number(AssociationCheck.byteLimit / 1024)] : [:]
    }
}
