"""A Streamlit app with sign-in, as in the documentation of `st.login`."""

import streamlit as st

if not st.user.is_logged_in:
    if st.button("Log in"):
        st.login()
else:
    if st.button("Log out"):
        st.logout()
    st.write(f"Hello, {st.user.name}! Your email is {st.user.email}.")
