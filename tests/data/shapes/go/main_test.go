package main

import (
	"net/http/httptest"
	"testing"
)

func TestServer(t *testing.T) {
	recorder := httptest.NewRecorder()
	server().ServeHTTP(recorder, httptest.NewRequest("GET", "/", nil))
	if recorder.Body.String() != `{"answer":42}` {
		t.Fatal(recorder.Body.String())
	}
}
