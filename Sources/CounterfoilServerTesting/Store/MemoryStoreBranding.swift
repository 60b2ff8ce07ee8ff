// The store protocols document these methods.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import CounterfoilProtocol
public import CounterfoilServer

extension MemoryStore: BrandingStore {
    public func branding() async throws(StoreFault) -> Branding {
        state.withLock { state in state.branding }
    }

    public func updateBranding(
        _ branding: Branding,
        logo: LogoChange,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> UpdateBrandingOutcome {
        commit(recording: events) { state in
            let stored = state.branding
            guard stored.revision == branding.revision else { return .changedMeanwhile }
            state.branding = branding
            state.branding.statements = branding.statements.filter { !$0.value.isEmpty }
            state.branding.logo = state.logo(after: logo, former: stored.logo)
            state.branding.revision += 1
            state.removeLogoIfUnused(stored.logo)
            return .updated
        }
    }
}
