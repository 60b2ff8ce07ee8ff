import CounterfoilProtocol
public import CounterfoilStore

/// The names by which users know clients that no person registered.
///
/// Such a client chooses its name itself, so pages show the name only together with a host.
extension RegisteredClient {
    /// The name for pages and lists; that of an unregistered client contains its host: `Photo Viewer (viewer.example)`.
    ///
    /// A client that registered itself has no host of its own, so the name contains those of its redirect URIs. They
    /// prove nothing if the client gets tokens without them, as a device does; the name then contains the `client_id`.
    public var displayName: DisplayName {
        guard isUnregistered else { return claimedName }
        if let address = documentAddress {
            return ownName(beside: address.name)?.of(address.text) ?? DisplayName(host: address.text)
        }
        let hosts = redirectURIs.compactMap { RedirectDestination($0, of: type).host }
        let text = Set(hosts).sorted().joined(separator: ", ")
        // A long text would lose its beginning, which may be the host that gets the response.
        guard !text.isEmpty, text.count <= DisplayName.maximumLength, !declaresDeviceGrant else {
            return claimedName.of(id.rawValue)
        }
        return claimedName.of(text)
    }

    /// Returns the name for a page of a request whose response goes to a destination.
    ///
    /// A client that registered itself can have redirect URIs at several hosts, and only this one gets the response.
    func displayName(at destination: RedirectDestination) -> DisplayName {
        guard case .registration = source else { return displayName }
        return claimedName.of(destination.host ?? id.rawValue)
    }

    /// The name for a place that shows the host of the document beside it.
    package var nameBesideHost: DisplayName { documentAddress == nil ? displayName : ownName ?? displayName }

    /// The name without a host.
    var claimedName: DisplayName { DisplayName(presentation.name, orElse: id.rawValue) }

    /// The name that the client gives itself; nil if its document names none, so that the host stands for it.
    var ownName: DisplayName? {
        guard let documentAddress else { return claimedName }
        return ownName(beside: documentAddress.name)
    }

    private func ownName(beside host: String) -> DisplayName? {
        presentation.name == host.prefix(100) ? nil : claimedName
    }

    /// Returns the host of the document of a client as pages show it; nil if the client has no document.
    package func shownHost(_ suffixes: PublicSuffixList?) -> ShownHost? {
        documentAddress.map { ShownHost($0.name, port: $0.port, suffixes: suffixes) }
    }
}
